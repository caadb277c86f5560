/** Whoever explains actors is made above this folder, and handed in by the entry module. */
import type { ActorKind } from '../../machines/ids.ts';
import type { ExplainedView } from './api/explanationViews.ts';
import type { DaemonContext } from './context.ts';

/** Looks at what is committed, and may ask guardians; undefined where there is no such actor. */
export type Explainer = (
  context: Pick<DaemonContext, 'host' | 'store' | 'pendingLaunches' | 'guardians'>,
  actor: { readonly kind: ActorKind; readonly id: string },
) => Promise<ExplainedView | undefined>;
