/** Results of the checks that Custody runs on its host, e.g. the containment self-check of `init`. */
import type { Connection } from '../connection.ts';

export interface SelfCheck {
  readonly name: string;
  readonly wallMs: number;
  readonly passed: boolean;
  /** JSON; its shape belongs to the check. */
  readonly report: unknown;
}

export interface SelfChecksTable {
  insert(check: SelfCheck): void;
  newest(name: string): SelfCheck | undefined;
}

export function createSelfChecksTable(connection: Connection): SelfChecksTable {
  const insert = connection.prepare('INSERT INTO self_checks (name, wall_ms, passed, report) VALUES (?, ?, ?, ?)');
  const newest = connection.prepare(`SELECT name, wall_ms AS wallMs, passed, report FROM self_checks WHERE name = ?
    ORDER BY self_check DESC LIMIT 1`);

  return {
    insert: ({ name, wallMs, passed, report }) =>
      void insert.run(name, wallMs, passed ? 1 : 0, JSON.stringify(report ?? null)),
    newest(name) {
      const raw = newest.get(name) as { name: string; wallMs: number; passed: number; report: string } | undefined;
      return raw && { ...raw, passed: raw.passed === 1, report: JSON.parse(raw.report) };
    },
  };
}
