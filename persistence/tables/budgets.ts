/** The figures that promotion compares measurements of this host with (METR-02), and what each was taken from. */
import type { Connection } from '../connection.ts';

export interface Budget {
  readonly name: string;
  readonly value: number;
  readonly origin: 'measured' | 'by_hand';
  readonly wallMs: number;
  /** JSON: what was measured, and over what; null where a person has set it. */
  readonly measured: unknown;
}

export interface BudgetsTable {
  /** Replaces what was set before. */
  put(budget: Budget): void;
  list(): readonly Budget[];
}

export function createBudgetsTable(connection: Connection): BudgetsTable {
  const put = connection.prepare(
    'INSERT OR REPLACE INTO budgets (name, value, origin, wall_ms, measured) VALUES (?, ?, ?, ?, ?)',
  );
  const list = connection.prepare('SELECT name, value, origin, wall_ms AS wallMs, measured FROM budgets ORDER BY name');

  return {
    put: ({ name, value, origin, wallMs, measured }) =>
      void put.run(name, value, origin, wallMs, measured === null ? null : JSON.stringify(measured)),
    list: () =>
      (list.all() as Array<Budget & { measured: string | null }>).map((row) => ({
        ...row,
        measured: row.measured === null ? null : JSON.parse(row.measured),
      })),
  };
}
