/** What `custody observe` can do: take notes in, look once, and tell what is known. */
import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { type LinesReport, takeLines } from '../../actors/ingest/takeLines.ts';
import type { SpoolReport } from '../../actors/ingest/takeSpool.ts';
import type { ReconcileReport } from '../../actors/reconcile/observer.ts';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { parseSpan, parseWhole } from '../duration.ts';
import { usage } from '../failure.ts';
import { example } from '../globalOptions.ts';
import {
  type CoverageWords,
  declareCoverage,
  declareImport,
  declareMetrics,
  type ImportWords,
  type MetricsWords,
} from '../observeOptions.ts';
import type { Answer, Output } from '../output.ts';
import { line } from '../print/escape.ts';
import { importLines } from '../print/import.ts';
import { metricsLines } from '../print/metrics.ts';
import { coverageLines, ingestLines, reconcileLines, spoolLines, statusLines } from '../print/observe.ts';
import { parseWallTime } from '../wallTime.ts';
import { type LegacyReport, preparedImport, readSource } from './importing.ts';
import { type Here, type Observed, withObserver, withoutWriting } from './observer.ts';

export interface Asked {
  readonly here: Here;
  readonly output: Output;
}

/** How a command's body meets commander: what it returns is the exit status. */
export type Run = (
  body: (asked: Asked, options: Record<string, never>, operand?: string) => Promise<number>,
) => (...parameters: unknown[]) => Promise<void>;

export function registerObserve(program: Command, run: Run): void {
  example(
    program
      .command('ingest')
      .description('take in what launchers noted: from the spool, or lines of notes from a file or a pipe')
      .argument('[file]', 'a file of notes, one JSON object a line; - for standard input; nothing for the spool')
      .action(run(ingest)),
    'custody observe ingest',
    'custody observe ingest notes.jsonl',
    'custody observe ingest - < notes.jsonl',
  );
  example(
    program
      .command('reconcile')
      .description('take in the spool, look once at every observed process that is due, and end')
      .option('--once', 'one pass (what it does without options as well)')
      .option('--max-ms <n>', 'how long it may look, in ms (default: 200)', parseWhole(1, Number.MAX_SAFE_INTEGER))
      .option(
        '--max-count <n>',
        'how many processes it may look at (default: 10000)',
        parseWhole(1, Number.MAX_SAFE_INTEGER),
      )
      .action(run(reconcile)),
    'custody observe reconcile --once',
    'custody observe reconcile --once --max-ms 50 --max-count 200 --json',
  );
  example(
    program
      .command('status')
      .description('what is observed, by whom it is told, and what is missing')
      .action(run(status)),
    'custody observe status --json',
  );
  declareImport(program).action(run(legacy));
  declareCoverage(program).action(run(coverage));
  declareMetrics(program).action(run(metrics));
}

async function metrics({ here, output }: Asked, { since, prometheus = false }: MetricsWords): Promise<number> {
  if (prometheus) {
    if (output.json || since !== undefined)
      throw usage('--prometheus has a format and a window of its own', ['custody metrics --help']);
    const { data, warnings } = await withObserver(here, (observer) => observer.exposition());
    output.raw(data);
    for (const warning of warnings) output.note(line`warning: ${warning}`);
    return 0;
  }
  const sinceMs = sinceOf(since ?? '24h');
  const report = await withObserver(here, (observer) => observer.metrics({ sinceMs }));
  return output.answer(answerOf('metrics', report), metricsLines);
}

/** `10m`, `48h`, `2d`, or a time such as 2031-05-06T07:08:09Z, as wall-clock milliseconds. */
function sinceOf(text: string): number {
  const span = parseSpan(text);
  if (span !== undefined) return Math.max(0, Date.now() - span);
  const at = parseWallTime(text);
  if (at !== undefined) return at;
  throw usage(
    `${JSON.stringify(text)} is neither a duration such as 10m or 2d nor a time such as 2031-05-06T07:08:09Z`,
    ['custody metrics --since 24h'],
  );
}

async function legacy({ here, output }: Asked, options: Partial<ImportWords>, file?: string): Promise<number> {
  const { format, dryRun = false, repo } = options as ImportWords;
  const work = preparedImport({ format, bytes: await readSource(file!) }, { dryRun, repo });
  const report = dryRun ? await withoutWriting(here, work) : await withObserver(here, work);
  const { invalid, conflict, refused } = report.data.counts;
  const answer = {
    ...answerOf('', report, exitOf({ invalid, rejected: conflict + refused })),
    command: 'import-legacy',
  };
  return output.answer<LegacyReport>(answer, importLines, importedIds);
}

const importedIds = ({ records }: LegacyReport): readonly string[] =>
  records.flatMap(({ id, outcome }) => (outcome === 'imported' && id !== null ? [id] : []));

async function coverage({ here, output }: Asked, { all = false }: CoverageWords): Promise<number> {
  const report = await withObserver(here, (observer) => observer.coverage({ all }));
  return output.answer(answerOf('coverage', report), coverageLines, ({ gaps }) => gaps.map(({ gapId }) => gapId));
}

const answerOf = <Data>(command: string, { data, warnings }: Observed<Data>, exitCode = 0): Answer<Data> => ({
  command: `observe.${command}`,
  data,
  warnings,
  journalPosition: null,
  exitCode,
});

/** Notes of one invocation; the next one goes on. */
const spoolAtMost = 100_000;

/** 2 where a line is no note, 11 where one says something else than was told before; everything else is taken in (exit codes of section F). */
const exitOf = ({ invalid = 0, rejected }: { readonly invalid?: number; readonly rejected: number }): number =>
  invalid > 0 ? 2 : rejected > 0 ? 11 : 0;

/** Notes that stay where they are until somebody has looked after their directory. */
const unreadExit = ({ unread }: SpoolReport): number => (unread.length > 0 ? 9 : 0);

async function ingest({ here, output }: Asked, _: unknown, file?: string): Promise<number> {
  if (file === undefined) {
    const report = await withObserver(here, (observer) => observer.takeSpool(spoolAtMost));
    const exitCode = unreadExit(report.data) || exitOf(report.data.counts);
    return output.answer<SpoolReport>(answerOf('ingest', report, exitCode), spoolLines);
  }
  const report = await withObserver(here, (observer) => takeLines(observer.sink, chunksOf(file)));
  return output.answer<LinesReport>(answerOf('ingest', report, exitOf(report.data.counts)), ingestLines);
}

async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  const source = file === '-' ? process.stdin : createReadStream(file);
  try {
    for await (const chunk of source) yield chunk as Buffer;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new OperatingError({
      code: 'input_unreadable',
      message: `${JSON.stringify(file)} cannot be read: ${code ?? 'failed'}`,
      exitCode: 2,
      next: ['custody observe ingest --help'],
    });
  }
}

interface ReconcileOptions {
  readonly maxMs?: number;
  readonly maxCount?: number;
}

async function reconcile({ here, output }: Asked, options: ReconcileOptions): Promise<number> {
  const { maxMs = 200, maxCount = 10_000 } = options;
  const report = await withObserver(here, (observer) => observer.reconcile({ maxMs, maxCount }));
  const { pass, spool } = report.data;
  const exitCode = pass.unavailable === null ? unreadExit(spool) : 8;
  return output.answer<ReconcileReport>(answerOf('reconcile', report, exitCode), reconcileLines);
}

async function status({ here, output }: Asked): Promise<number> {
  return output.answer(answerOf('status', await withObserver(here, (observer) => observer.status())), statusLines);
}
