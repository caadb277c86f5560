/**
 * What was refused and why (ruling 3): written outside the savepoint of the refused call and outside deduplication, so a
 * later try of the same event id may succeed. Bounded: the oldest rows make room. Payloads are not kept.
 */
import type { Connection } from '../connection.ts';
import { limitOf, type Page } from '../paging.ts';
import type { ActorAddress } from './actors.ts';

export interface Rejection {
  readonly wallMs: number;
  readonly actor: ActorAddress;
  readonly eventId: string;
  readonly type: string;
  readonly outcome: 'rejected' | 'ignored_terminal';
  readonly reason: string;
  /** False guards, offending fields: names only. */
  readonly detail: readonly string[];
}

export interface RejectionsTable {
  insert(rejection: Rejection): void;
  /** Newest first; `after` is the `rejection` number of the last row seen. */
  newest(page?: Page): ReadonlyArray<Rejection & { readonly rejection: number }>;
}

/** About two megabytes at most. */
export const keptRejections = 10_000;

export function createRejectionsTable(connection: Connection, kept = keptRejections): RejectionsTable {
  const insert = connection.prepare(`INSERT INTO rejections (wall_ms, kind, id, event_id, type, outcome, reason, detail)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const trim = connection.prepare('DELETE FROM rejections WHERE rejection <= ?');
  const newest = connection.prepare(`SELECT rejection, wall_ms AS wallMs, kind, id, event_id AS eventId, type, outcome,
    reason, detail FROM rejections WHERE rejection < ? ORDER BY rejection DESC LIMIT ?`);

  return {
    insert({ wallMs, actor, eventId, type, outcome, reason, detail }) {
      const { lastInsertRowid } = insert.run(
        wallMs,
        actor.kind,
        actor.id,
        eventId,
        type,
        outcome,
        reason,
        JSON.stringify(detail),
      );
      trim.run(Number(lastInsertRowid) - kept);
    },
    newest: (page = {}) =>
      (newest.all(page.after ?? Number.MAX_SAFE_INTEGER, limitOf(page)) as RawRow[]).map(
        ({ kind, id, detail, ...row }) => ({ ...row, actor: { kind, id }, detail: JSON.parse(detail) as string[] }),
      ),
  };
}

type RawRow = Omit<Rejection, 'actor' | 'detail'> & ActorAddress & { rejection: number; detail: string };
