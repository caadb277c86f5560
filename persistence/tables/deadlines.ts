/**
 * Armed deadlines on the monotonic clock of one boot (TIME-01, K5). Another boot's deadlines are never due: whoever armed
 * them decides what to do about them (TIME-03).
 */
import type { Connection } from '../connection.ts';
import type { ActorAddress } from './actors.ts';

export interface Deadline {
  readonly deadlineId: string;
  readonly actor: ActorAddress;
  /** What it is for, e.g. `hard`, `handshake`. */
  readonly purpose: string;
  readonly bootId: string;
  readonly monoMs: number;
  /** What the deadline was armed against; compared by the chart when it is reached. JSON. */
  readonly basis: unknown;
}

export interface DeadlinesTable {
  /** Arms, or moves, the deadline with this id. */
  arm(deadline: Deadline): void;
  disarm(deadlineId: string): void;
  /** Deadlines of this boot that have been reached, earliest first. */
  due(bootId: string, monoMs: number, limit: number): readonly Deadline[];
  /** When the earliest deadline of this boot is due. */
  next(bootId: string): number | undefined;
  /** Deadlines that a boot change has voided. */
  ofOtherBoots(bootId: string, limit: number): readonly Deadline[];
}

export function createDeadlinesTable(connection: Connection): DeadlinesTable {
  const arm = connection.prepare(`INSERT INTO deadlines
    (deadline_id, actor_kind, actor_id, purpose, boot_id, mono_ms, basis) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (deadline_id) DO UPDATE SET purpose = excluded.purpose, boot_id = excluded.boot_id,
      mono_ms = excluded.mono_ms, basis = excluded.basis`);
  const disarm = connection.prepare('DELETE FROM deadlines WHERE deadline_id = ?');
  const from = `SELECT deadline_id AS deadlineId, actor_kind AS kind, actor_id AS id, purpose, boot_id AS bootId,
    mono_ms AS monoMs, basis FROM deadlines`;
  const due = connection.prepare(`${from} WHERE boot_id = ? AND mono_ms <= ? ORDER BY mono_ms LIMIT ?`);
  const next = connection.prepare('SELECT min(mono_ms) FROM deadlines WHERE boot_id = ?').pluck();
  const others = connection.prepare(`${from} WHERE boot_id <> ? ORDER BY boot_id, mono_ms LIMIT ?`);

  return {
    arm: ({ deadlineId, actor, purpose, bootId, monoMs, basis }) =>
      void arm.run(deadlineId, actor.kind, actor.id, purpose, bootId, monoMs, JSON.stringify(basis ?? null)),
    disarm: (deadlineId) => void disarm.run(deadlineId),
    due: (bootId, monoMs, limit) => (due.all(bootId, monoMs, limit) as RawRow[]).map(deadlineOf),
    next: (bootId) => (next.get(bootId) as number | null) ?? undefined,
    ofOtherBoots: (bootId, limit) => (others.all(bootId, limit) as RawRow[]).map(deadlineOf),
  };
}

type RawRow = Omit<Deadline, 'actor' | 'basis'> & ActorAddress & { readonly basis: string };

const deadlineOf = ({ kind, id, basis, ...row }: RawRow): Deadline => ({
  ...row,
  actor: { kind, id },
  basis: JSON.parse(basis),
});
