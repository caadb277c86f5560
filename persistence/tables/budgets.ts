/** The figures that promotion compares measurements of this host with (METR-02), and what each was taken from. */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';
import { damagedRow } from '../errors.ts';

export interface Budget {
  readonly name: string;
  readonly value: number;
  readonly origin: 'measured' | 'by_hand';
  readonly wallMs: number;
  /** JSON: what was measured, and over what; null where a person has set it. */
  readonly measured: unknown;
}

/** A damaged row throws StoreError `store_corrupt`: a bound that is read wrongly may let anything pass. */
export interface BudgetsTable {
  /** Replaces what was set before, also where that is damaged. */
  put(budget: Budget): void;
  list(): readonly Budget[];
}

type Raw = Omit<Budget, 'measured'> & { readonly measured: string | null };

const digestOf = ({ name, value, origin, wallMs, measured }: Raw): string =>
  rowDigest(name, value, origin, wallMs, measured);

function intact({ digest, ...raw }: Raw & { readonly digest: string }): Budget {
  if (digest !== digestOf(raw)) throw damagedRow(`budget ${raw.name}`);
  return { ...raw, measured: raw.measured === null ? null : JSON.parse(raw.measured) };
}

export function createBudgetsTable(connection: Connection): BudgetsTable {
  const put = connection.prepare(
    'INSERT OR REPLACE INTO budgets (name, value, origin, wall_ms, measured, digest) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const list = connection.prepare(
    'SELECT name, value, origin, wall_ms AS wallMs, measured, digest FROM budgets ORDER BY name',
  );

  return {
    put(budget) {
      const raw = { ...budget, measured: budget.measured === null ? null : JSON.stringify(budget.measured) };
      put.run(raw.name, raw.value, raw.origin, raw.wallMs, raw.measured, digestOf(raw));
    },
    list: () => (list.all() as Array<Raw & { readonly digest: string }>).map(intact),
  };
}
