/** What observing is asked for by names of its own: declared once, for the whole command line and for the program that does it. */
import { type Command, Option } from 'commander';
import { example } from './globalOptions.ts';

export const formats = ['custody-legacy/1', 'git-worktree-porcelain'] as const;
export type Format = (typeof formats)[number];

export interface ImportWords {
  readonly format: Format;
  readonly dryRun?: boolean;
  readonly repo?: string;
}

export const declareImport = (program: Command): Command =>
  example(
    program
      .command('import-legacy')
      .description('take in what another tool has on record: runs and worktrees; nothing of them is touched')
      .argument('<file>', 'its records; - for standard input')
      .addOption(
        new Option('--format <format>', 'how they are written; see docs/import.md')
          .choices(formats)
          .makeOptionMandatory(),
      )
      .option('--dry-run', 'say what would become of each record, and write nothing')
      .option('--repo <path>', 'only worktrees of this repository'),
    'custody import-legacy records.json --format custody-legacy/1 --dry-run',
    'git worktree list --porcelain -z | custody import-legacy - --format git-worktree-porcelain',
  );

export interface CoverageWords {
  readonly all?: boolean;
}

export const declareCoverage = (program: Command): Command =>
  example(
    program
      .command('coverage')
      .description('what launchers noted and was lost, and which worktrees that leaves in doubt')
      .option('--all', 'also gaps that are closed'),
    'custody coverage',
  );

export interface MetricsWords {
  readonly since?: string;
  readonly prometheus?: boolean;
}

export const declareMetrics = (program: Command): Command =>
  example(
    program
      .command('metrics')
      .description('what was measured: passes, commits, unknowns, gaps, recoveries, and how large things are')
      .option(
        '--since <when>',
        'the window: a duration such as 10m or 2d, or a time such as 2031-05-06T07:08Z (default: 24h)',
      )
      .option('--prometheus', 'in the text format of Prometheus, for a textfile collector'),
    'custody metrics',
    'custody metrics --since 10m --json',
    'custody metrics --prometheus > custody.prom',
  );
