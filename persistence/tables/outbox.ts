/**
 * Effects that committed events asked for (K4, JRN-11). An effect is written with its event and leaves the open states
 * only by a commit of its own; the digest covers what would be executed.
 */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';
import { statementCache } from '../statements.ts';
import type { ActorAddress } from './actors.ts';

export type EffectPolicy = 'once' | 'repeatable';
export type EffectState = 'pending' | 'attempted' | 'done' | 'failed';

export interface NewEffectRow {
  readonly position: number;
  /** Number of the effect among those of its event. */
  readonly ordinal: number;
  readonly effectId: string;
  readonly actorKey: number;
  readonly type: string;
  readonly policy: EffectPolicy;
  /** JSON text. */
  readonly params: string;
  /** Epoch of the store and start of the runtime that committed the effect. */
  readonly epoch: number;
  readonly startNumber: number;
  /** `attempted` where the attempt follows this very commit: whoever finds it later knows that it may have happened. */
  readonly state: 'pending' | 'attempted';
}

export interface EffectRow extends Omit<NewEffectRow, 'state'> {
  readonly actor: ActorAddress;
  readonly state: EffectState;
  readonly attempts: number;
  readonly error: string | null;
  readonly intact: boolean;
}

export interface EffectCursor {
  readonly position: number;
  readonly ordinal: number;
}

export interface OutboxTable {
  insert(row: NewEffectRow): void;
  /** Effects that are pending or attempted, in commit order. */
  open(after: EffectCursor, limit: number): readonly EffectRow[];
  find(effectId: string): EffectRow | undefined;
  /** Effects that are done or have failed for good, of actors that are over, in commit order. */
  finished(after: EffectCursor, limit: number): ReadonlyArray<EffectCursor & { readonly params: string }>;
  remove(effect: EffectCursor): void;
  /** Counts one more attempt of an effect that stays open, and keeps why it failed. */
  retry(effectId: string, error: string): void;
  finish(effectId: string, state: 'done' | 'failed', error?: string): void;
}

const digestOf = (row: Omit<NewEffectRow, 'state'>): string =>
  rowDigest(
    row.position,
    row.ordinal,
    row.effectId,
    row.actorKey,
    row.type,
    row.policy,
    row.params,
    row.epoch,
    row.startNumber,
  );

export function createOutboxTable(connection: Connection): OutboxTable {
  const prepare = statementCache(connection);
  const insert = prepare(`INSERT INTO outbox
    (position, ordinal, effect_id, actor, type, policy, params, epoch, start_number, state, attempts, digest)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const from = `SELECT o.position, o.ordinal, o.effect_id AS effectId, o.actor AS actorKey, o.type, o.policy, o.params,
    o.epoch, o.start_number AS startNumber, o.digest, o.state, o.attempts, o.error, a.kind, a.id
    FROM outbox o JOIN actors a USING (actor)`;
  const open = prepare(`${from} WHERE o.state IN ('pending', 'attempted') AND (o.position, o.ordinal) > (?, ?)
    ORDER BY o.position, o.ordinal LIMIT ?`);
  const find = prepare(`${from} WHERE o.effect_id = ?`);
  const finished = prepare(`SELECT o.position, o.ordinal, o.params FROM outbox o JOIN actors a USING (actor)
    WHERE o.state IN ('done', 'failed') AND a.settled = 1 AND a.released = 1 AND (o.position, o.ordinal) > (?, ?)
    ORDER BY o.position, o.ordinal LIMIT ?`);
  const remove = prepare('DELETE FROM outbox WHERE position = ? AND ordinal = ?');
  const retry = prepare('UPDATE outbox SET attempts = attempts + 1, error = ? WHERE effect_id = ?');
  const finish = prepare('UPDATE outbox SET state = ?, error = ? WHERE effect_id = ?');

  return {
    insert: (row) =>
      void insert.run(
        row.position,
        row.ordinal,
        row.effectId,
        row.actorKey,
        row.type,
        row.policy,
        row.params,
        row.epoch,
        row.startNumber,
        row.state,
        row.state === 'attempted' ? 1 : 0,
        digestOf(row),
      ),
    open: (after, limit) => (open.all(after.position, after.ordinal, limit) as RawRow[]).map(rowOf),
    find: (effectId) => {
      const raw = find.get(effectId) as RawRow | undefined;
      return raw && rowOf(raw);
    },
    finished: ({ position, ordinal }, limit) =>
      finished.all(position, ordinal, limit) as Array<EffectCursor & { params: string }>,
    remove: ({ position, ordinal }) => void remove.run(position, ordinal),
    retry: (effectId, error) => void retry.run(error, effectId),
    finish: (effectId, state, error) => void finish.run(state, error ?? null, effectId),
  };
}

type RawRow = Omit<EffectRow, 'actor' | 'intact'> & ActorAddress & { readonly digest: string };

function rowOf({ kind, id, digest, ...row }: RawRow): EffectRow {
  return { ...row, actor: { kind, id }, intact: digestOf(row) === digest };
}
