/**
 * Run ↔ generation with an ownership epoch (C.4, BIND-01…04). The table refuses what the protocol rules out: a second
 * binding of a run, an epoch that does not increase, any later change. Epochs order messages and prove nothing.
 */
import type { Connection } from '../connection.ts';

export interface Binding {
  readonly runId: string;
  readonly generationId: string;
  /** Positive, strictly increasing per generation. */
  readonly epoch: number;
  readonly eventId: string;
}

/** Actor keys instead of ids: what the foreign keys refer to. */
export interface NewBinding {
  readonly runKey: number;
  readonly generationKey: number;
  readonly epoch: number;
  readonly eventId: string;
}

export interface BindingsTable {
  /** Throws BindingConflictError when the run is bound already or the epoch was used or passed. */
  insert(binding: NewBinding): void;
  ofRun(runId: string): Binding | undefined;
  /** Newest epoch first. */
  ofGeneration(generationId: string, limit?: number): readonly Binding[];
  /** The event that made each binding. */
  eventIds(): Iterable<string>;
}

/** The protocol allows one binding per run and growing epochs per generation (BIND-02, BIND-04). */
export class BindingConflictError extends Error {
  override readonly name = 'BindingConflictError';
  readonly code = 'binding_conflict';
  readonly exitCode = 11;
  readonly retryable = false;
  readonly next: readonly string[] = ['reserve a new run: a run is bound once and to one generation'];
}

export function createBindingsTable(connection: Connection): BindingsTable {
  const insert = connection.prepare('INSERT INTO bindings (run, generation, epoch, event_id) VALUES (?, ?, ?, ?)');
  const from = `SELECT r.id AS runId, g.id AS generationId, b.epoch, b.event_id AS eventId FROM bindings b
    JOIN actors r ON r.actor = b.run JOIN actors g ON g.actor = b.generation`;
  const ofRun = connection.prepare(`${from} WHERE r.kind = 'run' AND r.id = ?`);
  const ofGeneration = connection.prepare(`${from} WHERE b.generation =
    (SELECT actor FROM actors WHERE kind = 'worktreeGeneration' AND id = ?) ORDER BY b.epoch DESC LIMIT ?`);
  const eventIds = connection.prepare('SELECT event_id FROM bindings').pluck();

  return {
    eventIds: () => eventIds.all() as string[],
    insert({ runKey, generationKey, epoch, eventId }) {
      try {
        insert.run(runKey, generationKey, epoch, eventId);
      } catch (thrown) {
        if (isConflict(thrown)) {
          throw new BindingConflictError(`the run is bound, or epoch ${epoch} is not new`, { cause: thrown });
        }
        throw thrown;
      }
    },
    ofRun: (runId) => ofRun.get(runId) as Binding | undefined,
    ofGeneration: (generationId, limit = 100) => ofGeneration.all(generationId, limit) as Binding[],
  };
}

function isConflict(thrown: unknown): boolean {
  const code = (thrown as { code?: unknown }).code;
  return (
    code === 'SQLITE_CONSTRAINT_PRIMARYKEY' ||
    code === 'SQLITE_CONSTRAINT_UNIQUE' ||
    code === 'SQLITE_CONSTRAINT_ROWID' ||
    code === 'SQLITE_CONSTRAINT_TRIGGER'
  );
}
