/** Whoever explains actors is made above this folder, and handed in by the entry module. */
import type { ActorKind } from '../../machines/ids.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { ExplainedView } from './api/explanationViews.ts';
import type { GuardianTalk } from './guardianTalk.ts';
import type { PendingLaunches } from './launch/pendingLaunches.ts';

export interface ExplainParts extends Pick<Runtime, 'host' | 'store' | 'config'> {
  readonly pendingLaunches: Pick<PendingLaunches, 'get'>;
  readonly guardians: GuardianTalk;
}

/** Looks at what is committed, and may ask guardians; undefined where there is no such actor. */
export type Explainer = (
  context: ExplainParts,
  actor: { readonly kind: ActorKind; readonly id: string },
) => Promise<ExplainedView | undefined>;
