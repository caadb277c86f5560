/** runs list, show, logs, wait, stop. */
import { type Command, Option } from 'commander';
import { action } from '../action.ts';
import { parseDuration, parseWhole } from '../duration.ts';
import { exitStatusOf } from '../exitStatus.ts';
import { usage } from '../failure.ts';
import { mentionIncomplete, printLogs } from '../follow.ts';
import { addRequestId, example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { endedLines, resultLines, runDetailLines, runTable, stopLines } from '../print/runs.ts';
import { tellTime, waitForRun } from '../wait.ts';
import { registerExec } from './exec.ts';
import { untilOption } from './until.ts';

const runArgument = [
  '<run>',
  'id or an unambiguous beginning of it, or producer:run as its launcher calls it',
] as const;

export function registerRuns(program: Command): void {
  const runs = program.command('runs').description('launch, look at and end guarded work');
  registerExec(runs);
  example(
    runs
      .command('list')
      .description('runs, newest first')
      .option('--active', 'only those that have not ended')
      .option('--unresolved', 'only those whose end is not proved')
      .option('--goal <goal>', 'only those of this Goal')
      .option('-n, --limit <n>', 'at most this many (default: 100)', parseWhole(1, 1_000))
      .action(action(list)),
    'custody runs list --active',
  );
  example(
    runs
      .command('show')
      .description('launcher facts, observations, what follows from them, and what would have to be assumed')
      .argument(...runArgument)
      .action(action(show)),
    'custody runs show R2c',
  );
  registerLogs(runs);
  example(
    runs
      .command('wait')
      .description('wait until a run has ended, or until nothing of it is left (exit 14 when that takes too long)')
      .argument(...runArgument)
      .addOption(untilOption('what to wait for (default: ended)'))
      .option('--wait <duration>', 'at most this long', parseDuration)
      .option('--exit-status', 'exit as the command did (128+N for signal N)')
      .action(action(wait)),
    'custody runs wait R2c --until proved --wait 30s',
  );
  example(
    addRequestId(runs.command('stop').description('end everything that a run has started, with proof'))
      .argument(...runArgument)
      .option('--grace <duration>', 'between the polite signal and the freeze', parseDuration)
      .option('--budget <duration>', 'after which the drain counts as stalled', parseDuration)
      .option('--wait <duration>', 'wait this long for the proof', parseDuration)
      .action(action(stop)),
    'custody runs stop R2c --grace 2s --wait 10s',
  );
}

function registerLogs(runs: Command): void {
  example(
    runs
      .command('logs')
      .description("a run's captured output, byte for byte; says when it is not complete")
      .argument(...runArgument)
      .addOption(new Option('--stream <name>', 'only one (default: both)').choices(['stdout', 'stderr', 'both']))
      .option('-f, --follow', 'as it grows, until the command has ended and what it left behind is silent')
      .addOption(untilOption('with --follow: how long to stay (default: ended)'))
      .option('-n, --tail <bytes>', 'only the last bytes of each', parseWhole(0, Number.MAX_SAFE_INTEGER))
      .action(action(logs)),
    'custody runs logs R2c -f',
  );
  example(
    runs
      .command('result')
      .description('the output of a run as one JSON value; refused unless it is known to be complete')
      .argument(...runArgument)
      .addOption(new Option('--stream <name>', 'which one (default: stdout)').choices(['stdout', 'stderr']))
      .action(action(result)),
    'custody runs result R2c',
  );
}

interface ListOptions {
  readonly active?: boolean;
  readonly unresolved?: boolean;
  readonly goal?: string;
  readonly limit?: number;
}

async function list(invocation: Invocation, { active, unresolved, goal, limit }: ListOptions): Promise<number> {
  return invocation.output.answer(
    await invocation.call('runs.list', { active, unresolved, goalId: goal, limit }),
    (data, style) => runTable(data.runs, style),
    (data) => data.runs.map(({ runId }) => runId),
  );
}

async function show(invocation: Invocation, _: unknown, [id = '']: readonly string[]): Promise<number> {
  return invocation.output.answer(await invocation.call('runs.show', { id }), runDetailLines);
}

interface LogOptions {
  readonly stream?: 'stdout' | 'stderr' | 'both';
  readonly follow?: boolean;
  readonly until?: 'ended' | 'proved';
  readonly tail?: number;
}

async function logs(invocation: Invocation, options: LogOptions, [id = '']: readonly string[]): Promise<number> {
  const { stream, follow, until, tail } = options;
  if (until && !follow) throw usage('--until needs --follow', [`custody runs logs ${id} --follow --until ${until}`]);
  mentionIncomplete(invocation, await printLogs(invocation, { id, stream, follow, until, tailBytes: tail }));
  return 0;
}

interface ResultOptions {
  readonly stream?: 'stdout' | 'stderr';
}

async function result(invocation: Invocation, { stream }: ResultOptions, [id = '']: readonly string[]) {
  return invocation.output.answer(await invocation.call('runs.result', { id, stream }), resultLines);
}

interface WaitOptions {
  readonly until?: 'ended' | 'proved';
  readonly wait?: number;
  readonly exitStatus?: boolean;
}

async function wait(invocation: Invocation, options: WaitOptions, [id = '']: readonly string[]): Promise<number> {
  const { until = 'ended', wait: waitMs } = options;
  const ended = await waitForRun(invocation, { id, until, waitMs });
  const exitCode = invocation.output.answer(ended, endedLines, (data) => [data.runId]);
  return options.exitStatus ? exitStatusOf(ended.data) : exitCode;
}

interface StopOptions {
  readonly grace?: number;
  readonly budget?: number;
  readonly wait?: number;
}

async function stop(invocation: Invocation, options: StopOptions, [id = '']: readonly string[]): Promise<number> {
  const { requestId, output } = invocation;
  const { grace: graceMs, budget: budgetMs, wait: waitMs } = options;
  const done = tellTime(invocation, `draining ${id}`);
  try {
    const answer = await invocation.call('runs.stop', { id, graceMs, budgetMs, waitMs, requestId });
    return output.answer(answer, stopLines, (data) => [data.runId]);
  } finally {
    done();
  }
}
