/**
 * Observe mode from end to end: a pass over runs that are due, and notes taken in, each beside the least that anybody
 * could do: `npm run bench -- reconcile [PROCESSES] [ROUNDS] [pass|intake]`.
 *
 * What limits both stands in docs/notes.md, with the parts that were measured: of a note everything besides SQLite, which has
 * no single part that is large, so that its bound is not reached; of a pass the row that is written for each run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureIntake } from './intake.ts';
import { observing } from './measuring.ts';
import { measurePasses } from './passes.ts';

const [processes = 1_000, rounds = 31] = process.argv.slice(2, 4).map(Number);
const only = process.argv[4];
const scratch = mkdtempSync(join(tmpdir(), 'custody-bench-'));
try {
  const all = observing(scratch);
  if (only !== 'intake') await measurePasses(all, processes, rounds);
  if (only !== 'pass') await measureIntake(all, join(scratch, 'plain.db'), 3 * rounds);
  await all.host.close();
  all.adapter.close();
  all.store.close();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
