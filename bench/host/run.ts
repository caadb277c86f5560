/**
 * The durable host: events per second against plain inserts of the same rows, and the cost of a start.
 * `npm run bench -- host [rates|start] [--dir DIRECTORY]`; the directory decides which disk is measured.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureRates } from './rates.ts';
import { measureStart } from './starting.ts';

const args = process.argv.slice(2);
const at = args.indexOf('--dir');
const directory = mkdtempSync(join(at < 0 ? tmpdir() : (args[at + 1] as string), 'custody-bench-'));
try {
  if (!args.includes('start')) await measureRates(directory);
  if (!args.includes('rates')) await measureStart(directory);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
