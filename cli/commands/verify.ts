/** verify: the protocol as it is shipped, explored against its invariants; or a journal that was written by it. */
import type { Command } from 'commander';
import { action } from '../action.ts';
import { parseWhole } from '../duration.ts';
import { example } from '../globalOptions.ts';

interface VerifyCommandOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly config?: string;
  readonly mutants: boolean;
  readonly journal?: string | true;
}

export function registerVerify(program: Command): void {
  const command = program
    .command('verify')
    .description('explore what the shipped machines can do together against the invariants; exit 1 on a violation')
    .option(
      '--seconds <n>',
      'for the configurations together, and as much again for the mutants',
      parseWhole(1, 86_400),
      600,
    )
    .option('--seed <n>', 'of the random walks where a bound is met', parseWhole(0, 0xffff_ffff), 1)
    .option('--config <name>', 'one configuration alone')
    .option('--no-mutants', 'do not try whether broken machines would be noticed')
    .option(
      '--journal [file]',
      'replay the journal of the installation instead, or what custody events --json has printed',
    )
    .action(
      action<VerifyCommandOptions>(async ({ output, places }, { journal, ...options }) => {
        if (journal !== undefined) {
          const { runVerifyJournal } = await import('../verify/journal.ts');
          return runVerifyJournal(output, places.stateDir, journal === true ? undefined : journal);
        }
        const { runVerify } = await import('../verify/main.ts');
        return runVerify(output, options);
      }),
    );
  example(
    command,
    'custody verify --seconds 60',
    'custody verify --config nested-scopes --json',
    'custody verify --journal',
  );
}
