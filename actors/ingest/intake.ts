/**
 * Takes notes of launchers in (INT-04): each becomes one call of the host, all of it or nothing. Notes of one batch are
 * submitted without waiting for each other, so that they share a commit; what a later one has to know of an earlier one
 * is kept beside the store until then. The same note again, or the same fact in another note, changes nothing (JRN-05).
 */
import type { Note, Place } from '../../machines/note.ts';
import type { Host } from '../host/api.ts';
import type { Outcome } from '../host/outcome.ts';
import type { LinuxAdapter } from '../observe/linux/adapter.ts';
import { intact } from '../runtime/actorAccess.ts';
import { firstRefusal } from '../runtime/submission.ts';
import { type BootClock, isOfThisMachine } from './boots.ts';
import { runIdOf } from './names.ts';
import { type KnownRun, type Placing, type Told, told } from './telling.ts';

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
  readonly runId: string;
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
    let batch = new Batch(this.#options);
    const outcomes: Promise<NoteOutcome>[] = [];
    for (const note of notes) {
      const { outcome, isPlacing } = batch.submit(note);
      outcomes.push(outcome);
      if (!isPlacing) continue;
      // A directory that is new is found by those that come after it only once it is committed.
      await Promise.all(outcomes);
      batch = new Batch(this.#options);
    }
    return Promise.all(outcomes.map((outcome) => outcome.then((one) => this.#again(one))));
  }

  /** What relied on a call that was refused is asked again, knowing what has been committed. */
  #again(outcome: NoteOutcome): NoteOutcome | Promise<NoteOutcome> {
    if (outcome.reason !== 'unknown_actor') return outcome;
    return new Batch(this.#options).submit(outcome.note).outcome;
  }
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
  readonly #bound = new Map<string, string>();

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  submit(note: Note): Submitted {
    const { host, installationId, adapter, clock, placingOf } = this.#options;
    const runId = runIdOf({ installationId, producer: note.producer, run: note.run });
    const refused = (reason: string): Submitted => ({
      outcome: Promise.resolve({ note, runId, outcome: 'rejected', reason }),
      isPlacing: false,
    });
    // That its process is gone with its boot would be a guess.
    if (!isOfThisMachine(clock, note.at)) return refused('foreign_boot');
    const known = this.#known(runId);
    if (known === 'corrupt') return refused('actor_corrupt');
    const placing = 'place' in note && note.place !== null ? placingOf(note.place, note) : undefined;
    const meaning = told(note, { installationId, runId, adapter, known, placing });
    if (meaning.identity !== undefined && this.#isTaken(meaning.identity, runId)) return refused('identity_conflict');
    const outcome = host.submit(meaning.drafts).then((outcomes) => ({ note, runId, ...summary(outcomes) }));
    this.#remember(meaning);
    return { outcome, isPlacing: (placing?.drafts.length ?? 0) > 0 };
  }

  #known(runId: string): KnownRun | 'corrupt' | undefined {
    const ahead = this.#runs.get(runId);
    if (ahead !== undefined) return ahead;
    const run = intact(this.#options.host, 'run', runId);
    return run === 'corrupt' ? run : run?.context;
  }

  /** One process is at most one run (RUN-02, I-06). */
  #isTaken(identity: string, runId: string): boolean {
    const owner = this.#bound.get(identity);
    return [...(owner ? [owner] : []), ...this.#options.host.linked('run', 'identity', identity)].some(
      (id) => id !== runId,
    );
  }

  #remember({ runId, after, identity }: Told): void {
    this.#runs.set(runId, after);
    if (identity !== undefined) this.#bound.set(identity, runId);
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
