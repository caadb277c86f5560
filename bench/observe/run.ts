/** What observing costs: a pass over recorded processes, or runs noted in one worktree (`noted`). */
import { measureNoted } from './noted.ts';
import { measureObservation } from './passes.ts';

const args = process.argv.slice(2);
if (args[0] === 'noted') await measureNoted(Number(args[1] ?? 10_000));
else await measureObservation(Number(args[0] ?? 1_000), Number(args[1] ?? 31));
