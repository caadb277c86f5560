/**
 * Takes notes of launchers in (INT-04): each becomes one call of the host, all of it or nothing. Notes of one batch are
 * submitted without waiting for each other, so that they share a commit; what a later one has to know of an earlier one
 * is kept beside the store until then. The same note again, or the same fact in another note, changes nothing (JRN-05).
 */
import { identityDigest, type ProcessIdentity } from '../../machines/identity.ts';
import type { RunId } from '../../machines/ids.ts';
import type { Note, Place } from '../../machines/note.ts';
import type { Host } from '../host/api.ts';
import type { Outcome } from '../host/outcome.ts';
import type { LinuxAdapter } from '../observe/linux/adapter.ts';
import { intact } from '../runtime/actorAccess.ts';
import { firstRefusal } from '../runtime/submission.ts';
import { type BootClock, isOfThisMachine } from './boots.ts';
import { runIdOf } from './names.ts';
import { identityOf, type KnownRun, type Placing, told } from './telling.ts';

export interface IntakeOptions {
  readonly host: Host;
  readonly installationId: string;
  readonly adapter: Pick<LinuxAdapter, 'identityFrom'>;
  readonly clock: BootClock;
  /** The generation of a place, or what registers it. Called again for every note. */
  readonly placingOf: (place: Place, note: Note) => Placing;
}

export interface NoteOutcome {
  readonly note: Note;
  readonly runId: RunId;
  readonly outcome: 'changed' | 'noop' | 'duplicate' | 'rejected';
  /** Why it was rejected; nothing of it is in force then. */
  readonly reason?: string;
}

export class Intake {
  readonly #options: IntakeOptions;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** In order; one outcome for each. Rejects with StoreError or HostError when the store took nothing of the last ones. */
  async take(notes: readonly Note[]): Promise<readonly NoteOutcome[]> {
    const { host, installationId, adapter } = this.#options;
    const about = notes.map((note) => {
      const { producer, run } = note;
      return { note, runId: runIdOf({ installationId, producer, run }), identity: identityOf(note, adapter) };
    });
    host.preload(
      'run',
      about.map(({ runId }) => runId),
    );
    let batch = new Batch(this.#options, about);
    const outcomes: Promise<NoteOutcome>[] = [];
    for (const [at, one] of about.entries()) {
      const { outcome, isPlacing } = batch.submit(one);
      outcomes.push(outcome);
      if (!isPlacing) continue;
      // A directory that is new is found by those that come after it only once it is committed.
      await Promise.all(outcomes);
      batch = new Batch(this.#options, about.slice(at + 1));
    }
    const taken = await Promise.all(outcomes);
    return Promise.all(taken.map((outcome, at) => this.#again(outcome, about[at]!)));
  }

  /** What relied on a call that was refused is asked again, knowing what has been committed. */
  #again(outcome: NoteOutcome, about: About): NoteOutcome | Promise<NoteOutcome> {
    if (outcome.reason !== 'unknown_actor') return outcome;
    return new Batch(this.#options, [about]).submit(about).outcome;
  }
}

interface About {
  readonly note: Note;
  readonly runId: RunId;
  /** The process that the note binds. */
  readonly identity: ProcessIdentity | undefined;
}

interface Submitted {
  readonly outcome: Promise<NoteOutcome>;
  /** It registers a worktree. */
  readonly isPlacing: boolean;
}

/** What is known while a batch is on its way: the store, and what the calls before have asked for. */
class Batch {
  readonly #options: IntakeOptions;
  readonly #runs = new Map<string, KnownRun>();
  /** Digest of a process → runs that it is bound to. */
  readonly #bound: Map<string, readonly string[]>;

  /** Whoever has one of these processes is asked for here, at once; nothing is committed before they are submitted. */
  constructor(options: IntakeOptions, about: readonly About[]) {
    this.#options = options;
    const digests = about.flatMap(({ identity }) => (identity ? [identityDigest(identity)] : []));
    this.#bound = new Map(digests.length > 0 ? options.host.linkedAny('run', 'identity', digests) : []);
  }

  submit({ note, runId, identity }: About): Submitted {
    const { host, installationId, clock, placingOf } = this.#options;
    const refused = (reason: string): Submitted => ({
      outcome: Promise.resolve({ note, runId, outcome: 'rejected', reason }),
      isPlacing: false,
    });
    // That its process is gone with its boot would be a guess.
    if (!isOfThisMachine(clock, note.at)) return refused('foreign_boot');
    const known = this.#known(runId);
    if (known === 'corrupt') return refused('actor_corrupt');
    const placing = 'place' in note && note.place !== null ? placingOf(note.place, note) : undefined;
    if (identity !== undefined && this.#isTaken(identity, runId)) return refused('identity_conflict');
    const { drafts, after } = told(note, { installationId, runId, identity, known, placing });
    const outcome = host.submit(drafts).then((outcomes) => ({ note, runId, ...summary(outcomes) }));
    this.#runs.set(runId, after);
    if (identity !== undefined) this.#bound.set(identityDigest(identity), [runId]);
    return { outcome, isPlacing: (placing?.drafts.length ?? 0) > 0 };
  }

  #known(runId: string): KnownRun | 'corrupt' | undefined {
    const ahead = this.#runs.get(runId);
    if (ahead !== undefined) return ahead;
    const run = intact(this.#options.host, 'run', runId);
    return run === 'corrupt' ? run : run?.context;
  }

  /** One process is at most one run (RUN-02, I-06). */
  #isTaken(identity: ProcessIdentity, runId: string): boolean {
    return (this.#bound.get(identityDigest(identity)) ?? []).some((id) => id !== runId);
  }
}

function summary(outcomes: readonly Outcome[]): Pick<NoteOutcome, 'outcome' | 'reason'> {
  const refused = firstRefusal(outcomes);
  if (refused) return { outcome: 'rejected', reason: reasonOf(refused) };
  for (const outcome of ['changed', 'noop'] as const)
    if (outcomes.some((one) => one.outcome === outcome)) return { outcome };
  return { outcome: 'duplicate' };
}

/** What the refusal of an event means in a launcher's words (exit 11). */
const conflicts: Readonly<Record<string, string>> = {
  'identity.bound': 'identity_conflict',
  'run.placed': 'binding_conflict',
  'reservation.reported': 'reservation_conflict',
};

const reasonOf = ({ type, reason, outcome }: Outcome): string =>
  reason === 'guard_refused' || reason === 'not_in_state' ? (conflicts[type] ?? reason) : (reason ?? outcome);
