/** observe: named here for help and completions; what it does is a program of its own (cli/observe.ts). */
import type { Command } from 'commander';
import { globalsOf } from '../action.ts';
import { example } from '../globalOptions.ts';
import { declareImport, type ImportWords } from '../importOptions.ts';
import type { GlobalOptions } from '../invocation.ts';

export function registerObserve(program: Command): void {
  example(
    program
      .command('observe')
      .description('watch what others launch, and have no power over it: ingest, reconcile, status')
      .argument('[words...]', 'what to do, and its options; custody observe --help tells more')
      .allowUnknownOption()
      .passThroughOptions()
      .action((words: readonly string[], _: unknown, command: Command) => observe(words, command)),
    'custody observe reconcile --once',
    'custody observe status',
  );
  example(
    program
      .command('coverage')
      .description('what launchers noted and was lost, and which worktrees that leaves in doubt')
      .option('--all', 'also gaps that are closed')
      .action(({ all = false }: { readonly all?: boolean }, command: Command) =>
        observe(['coverage', ...(all ? ['--all'] : [])], command),
      ),
    'custody coverage',
  );
  example(
    program
      .command('metrics')
      .description('what was measured: passes, commits, unknowns, gaps, recoveries, and how large things are')
      .option(
        '--since <when>',
        'the window: a duration such as 10m, or a time such as 2031-05-06T07:08Z (default: 24h)',
      )
      .option('--prometheus', 'in the text format of Prometheus, for a textfile collector')
      .action(({ since, prometheus }: MetricsOptions, command: Command) =>
        observe(
          ['metrics', ...(since === undefined ? [] : [`--since=${since}`]), ...(prometheus ? ['--prometheus'] : [])],
          command,
        ),
      ),
    'custody metrics',
    'custody metrics --since 10m --json',
    'custody metrics --prometheus > custody.prom',
  );
  declareImport(program).action((file: string, { format, dryRun = false, repo }: ImportWords, command: Command) => {
    const wanted = [...(dryRun ? ['--dry-run'] : []), ...(repo === undefined ? [] : ['--repo', asPath(repo)])];
    return observe(['import-legacy', asPath(file), '--format', format, ...wanted], command);
  });
}

interface MetricsOptions {
  readonly since?: string;
  readonly prometheus?: boolean;
}

const asPath = (file: string): string => (file.startsWith('-') && file !== '-' ? `./${file}` : file);

/** Loaded only now: most commands do without it. */
async function observe(words: readonly string[], command: Command): Promise<void> {
  const { main } = await import('../observe.ts');
  await main([...words, ...spelled(globalsOf(command))]);
}

/** Global options that stood before the command, as words behind it. */
const spelled = ({ json, quiet, color, stateDir }: GlobalOptions): readonly string[] => [
  ...(json ? ['--json'] : []),
  ...(quiet ? ['--quiet'] : []),
  ...(color === false ? ['--no-color'] : []),
  ...(stateDir === undefined ? [] : ['--state-dir', stateDir]),
];
