/** What a piece of work asks of SQLite and of the file system, counted and not timed: it is the same on every machine. */
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { vi } from 'vitest';

export interface Asked {
  /** Statements that ran, by their text. */
  readonly statements: Readonly<Record<string, number>>;
  /** Rows that they answered with. */
  readonly rows: number;
  /** Bytes that this thread has read from files, cached or not (proc_pid_io(5), rchar): pages that SQLite had to look at. */
  readonly bytesRead: number;
}

const readSoFar = (): number => Number(/^rchar: (\d+)/.exec(readFileSync('/proc/thread-self/io', 'utf8'))![1]);

/** Every connection of this thread counts, one that is opened meanwhile as well. */
export async function asked(work: () => Promise<void>): Promise<Asked> {
  const statements: Record<string, number> = {};
  let rows = 0;
  const sample = new Database(':memory:');
  const prototype = Object.getPrototypeOf(sample.prepare('SELECT 1')) as Database.Statement;
  sample.close();
  const spies = (['run', 'get', 'all'] as const).map((how) => {
    const original = prototype[how] as (...values: unknown[]) => unknown;
    return vi.spyOn(prototype, how).mockImplementation(function (this: Database.Statement, ...values: unknown[]) {
      const answer = original.apply(this, values);
      statements[this.source] = (statements[this.source] ?? 0) + 1;
      if (how === 'all') rows += (answer as unknown[]).length;
      if (how === 'get' && answer !== undefined) rows += 1;
      return answer;
    } as never);
  });
  try {
    const before = readSoFar();
    await work();
    return { statements, rows, bytesRead: readSoFar() - before };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
