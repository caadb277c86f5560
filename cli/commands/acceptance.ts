/** acceptance: the failure matrix, tried on this machine, in a scratch directory that is removed. */
import type { Command } from 'commander';
import { action } from '../action.ts';
import { parseWhole } from '../duration.ts';
import { example } from '../globalOptions.ts';

interface AcceptanceCommandOptions {
  readonly keep?: boolean;
  readonly record?: boolean;
  readonly kills: number;
  readonly seed: number;
}

export function registerAcceptance(program: Command): void {
  const command = program
    .command('acceptance')
    .description('try the whole failure matrix on this machine and report row by row; exit 1 when a row fails')
    .argument('[row]', 'one row, or all whose names begin so: FAULT-06, migration …')
    .option('--kills <n>', 'SIGKILLs of each row that kills', parseWhole(1, 100_000), 24)
    .option('--seed <n>', 'of the instants and orders', parseWhole(0, 0xffff_ffff), 1)
    .option('--record', 'hand the report over to your own installation, where promotion asks for it')
    .option('--keep', 'leave the scratch directory and say where it is')
    .action(
      action<AcceptanceCommandOptions>(async ({ globals, output, places }, options, [name]) => {
        const { runAcceptance } = await import('../acceptance/main.ts');
        const { keep = false, record = false, kills, seed } = options;
        const { json, quiet } = output;
        return runAcceptance({
          ...(name === undefined ? {} : { name }),
          ...(record ? { recordAt: places } : {}),
          ...{ kills, seed, keep, json, quiet },
          color: globals.color ?? true,
        });
      }),
    );
  example(command, 'custody acceptance', 'custody acceptance FAULT-06 --json', 'custody acceptance --record');
}
