/**
 * Why an actor stands where it stands, as far as the daemon has to know of it: it is given who explains as a port, and
 * passes on what that says. All of the shape stands with the port's implementation (inspect/explain/explanation.ts).
 */
import type { ActorKind } from '../../../machines/ids.ts';

export interface ExplainedView {
  readonly kind: ActorKind;
  readonly id: string;
  /** The whole text, a sentence each. */
  readonly sentences: readonly string[];
  /** Why the record cannot be trusted, by the host's code; null where it can. */
  readonly fault: string | null;
}

/** Exit status for a record that cannot be trusted, as wherever else one is read (ruling 30). */
export const untrustedExit = 9;
