/** observe: named here for help and completions; what it does is a program of its own (cli/observe.ts). */
import type { Command } from 'commander';
import { globalsOf } from '../action.ts';
import { example } from '../globalOptions.ts';
import type { GlobalOptions } from '../invocation.ts';
import {
  type CoverageWords,
  declareCoverage,
  declareImport,
  declareMetrics,
  type ImportWords,
  type MetricsWords,
} from '../observeOptions.ts';

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
  declareCoverage(program).action(({ all = false }: CoverageWords, command: Command) =>
    observe(['coverage', ...(all ? ['--all'] : [])], command),
  );
  declareMetrics(program).action(({ since, prometheus }: MetricsWords, command: Command) =>
    observe(
      ['metrics', ...(since === undefined ? [] : [`--since=${since}`]), ...(prometheus ? ['--prometheus'] : [])],
      command,
    ),
  );
  declareImport(program).action((file: string, { format, dryRun = false, repo }: ImportWords, command: Command) => {
    const wanted = [...(dryRun ? ['--dry-run'] : []), ...(repo === undefined ? [] : ['--repo', asPath(repo)])];
    return observe(['import-legacy', asPath(file), '--format', format, ...wanted], command);
  });
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
