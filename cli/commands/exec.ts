/** runs exec: launch a command under a guardian for a Goal. */
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { CallArguments } from '../../actors/daemon/api/contract.ts';
import type { CallResults } from '../../actors/daemon/api/results.ts';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { action } from '../action.ts';
import { parseDuration } from '../duration.ts';
import { execFailureStatus, exitStatusOf } from '../exitStatus.ts';
import { usage } from '../failure.ts';
import { followRun } from '../follow.ts';
import { addRequestId, collect, example } from '../globalOptions.ts';
import { readInput } from '../input.ts';
import type { Invocation } from '../invocation.ts';
import { workloadEnvironment } from '../launchEnvironment.ts';
import type { Answer } from '../output.ts';
import { line } from '../print/escape.ts';
import { endedLines, launchedLines, runLines } from '../print/runs.ts';
import { openedLines } from '../print/sessions.ts';
import { result } from '../print/words.ts';
import { waitForRun } from '../wait.ts';
import {
  addTerminalOptions,
  assertTerminalUsable,
  attachTo,
  followTerminal,
  type TerminalFlags,
  terminalOf,
} from './execTerminal.ts';
import { untilOption } from './until.ts';

interface ExecOptions extends TerminalFlags {
  readonly worktree?: string;
  readonly env?: readonly string[];
  readonly cwd?: string;
  readonly name?: string;
  readonly onRootExit?: 'terminate' | 'wait';
  readonly resident?: readonly Resident[];
  readonly grace?: number;
  readonly budget?: number;
  readonly timeout?: number;
  readonly stdin?: string;
  /** true: without a bound. */
  readonly wait?: number | true;
  readonly follow?: boolean;
  readonly until?: 'ended' | 'proved';
  readonly exitStatus?: boolean;
}

export function registerExec(runs: Command): void {
  const command = runs
    .command('exec')
    .description('run a command for a Goal under a guardian; put -- before the command')
    .argument('<goal>', 'id or an unambiguous beginning of it')
    .argument('<command...>', 'program and arguments, as they are: no shell looks at them')
    .option('--worktree <worktree>', "where to run (default: the Goal's newest open worktree)")
    .option('--env <name[=value]>', 'pass a variable: NAME takes the value from here (repeatable)', collect)
    .option('--cwd <dir>', 'working directory, relative to the worktree')
    .option('--name <text>', 'label shown in lists')
    .addOption(
      new Option('--on-root-exit <policy>', 'what becomes of what the command leaves behind').choices([
        'terminate',
        'wait',
      ]),
    )
    .option(
      '--resident <name[=stop]>',
      'command name of a process that may outlive the command; stop: with-worktree or keep (repeatable)',
      parseResident,
    )
    .option('--grace <duration>', 'between the polite signal and the freeze, such as 2s', parseDuration)
    .option('--budget <duration>', 'after which a drain counts as stalled', parseDuration)
    .option('--timeout <duration>', 'hard limit, such as 30m: then everything that it started is ended', parseDuration)
    .option('--stdin <file>', 'standard input of the command; - passes this one (default: nothing)')
    .option('--wait [duration]', 'wait until the command has ended', parseDuration)
    .option('--follow', 'show its output until it has ended and what it left behind is silent')
    .addOption(untilOption('with --wait or --follow: how long to stay (default: ended)'))
    .option('--exit-status', 'with --wait, --follow or --attach: exit as the command did (128+N for signal N)');
  addTerminalOptions(command);
  example(
    addRequestId(command).action(action(exec)),
    'custody runs exec G4k -- npm test',
    'custody runs exec G4k --env API_KEY --timeout 30m --follow --exit-status -- ./agent.sh',
    'custody runs exec G4k --pty --attach -- bash',
  );
}

type Resident = NonNullable<CallArguments<'runs.exec'>['residents']>[number];

/** `sccache`, `tmux=keep`: without a rule it is ended with its worktree. */
function parseResident(text: string, former: readonly Resident[] = []): Resident[] {
  const [, name = '', stop = 'with-worktree'] = /^([\x20-\x7e]{1,15}?)(?:=(with-worktree|keep))?$/.exec(text) ?? [];
  if (name === '' || name.includes('='))
    throw new InvalidArgumentError('Give a command name of at most 15 characters, such as sccache or tmux=keep.');
  return [...former, { name, stop: stop as Resident['stop'] }];
}

/** The API's bound on a request body leaves this much for standard input in base64. */
const largestStdinBytes = 16_777_216;

async function exec(
  invocation: Invocation,
  options: ExecOptions,
  [goalId = '', ...argv]: readonly string[],
): Promise<number> {
  assertUsable(options);
  const until = options.until ?? 'ended';
  const launched = await launch(invocation, options, [goalId, ...argv]);
  const { output } = invocation;
  const { runId, sessionId } = launched.data;
  if (options.attach && sessionId !== null) return attachTo(invocation, sessionId, options);
  if (options.follow) {
    if (output.json) output.answer(launched, runLines);
    const ended =
      sessionId === null ? await followRun(invocation, runId, until) : await followTerminal(invocation, launched.data);
    mentionFailure(invocation, ended.data);
    return options.exitStatus ? exitStatusOf(ended.data) : ended.exitCode;
  }
  if (!options.wait) {
    const lines = sessionId === null ? launchedLines : openedLines;
    return output.answer(launched, lines, ({ runId, sessionId }) =>
      sessionId === null ? [runId] : [runId, sessionId],
    );
  }
  const waitMs = options.wait === true ? undefined : options.wait;
  const ended = await waitForRun(invocation, { id: runId, until, waitMs });
  const data: CallResults['runs.exec'] & CallResults['runs.wait'] = { ...ended.data, launch: launched.data.launch };
  const exitCode = output.answer({ ...ended, command: 'runs.exec', data }, endedLines, () => [runId]);
  return options.exitStatus ? exitStatusOf(ended.data) : exitCode;
}

/** Its output may not say that a command has failed, and without --exit-status nothing else would. */
function mentionFailure({ output }: Invocation, { runId, result: how }: CallResults['runs.wait']): void {
  if (how !== null && !(how.how === 'exited' && how.code === 0)) output.note(line`${runId}: ${result(how)}`);
}

/** Options that mean nothing without others. */
function assertUsable(options: ExecOptions): void {
  const { wait, follow, exitStatus, until, attach } = options;
  if (exitStatus && !wait && !follow && !attach) {
    throw usage('--exit-status needs --wait, --follow or --attach', [
      'custody runs exec GOAL --wait --exit-status -- CMD...',
    ]);
  }
  if (until && !wait && !follow) {
    throw usage('--until needs --wait or --follow', ['custody runs exec GOAL --wait --until proved -- CMD...']);
  }
  assertTerminalUsable(options);
}

/** Throws what the daemon refuses, with the name of what cannot be executed; with --exit-status a command that cannot be executed has a shell's exit status. */
async function launch(
  invocation: Invocation,
  options: ExecOptions,
  [goalId = '', ...argv]: readonly string[],
): Promise<Answer<CallResults['runs.exec']>> {
  const stdin = options.stdin === undefined ? undefined : await readInput('--stdin', options.stdin, largestStdinBytes);
  const args: CallArguments<'runs.exec'> = {
    goalId,
    generationId: options.worktree,
    argv,
    env: workloadEnvironment(process.env, options.env ?? []),
    cwd: options.cwd,
    umask: process.umask(),
    label: options.name,
    onRootExit: options.onRootExit,
    residents: options.resident?.map((one) => ({ ...one })),
    graceMs: options.grace,
    budgetMs: options.budget,
    timeoutMs: options.timeout,
    stdin: stdin?.toString('base64'),
    terminal: await terminalOf(options),
    requestId: invocation.requestId,
  };
  try {
    return await invocation.call('runs.exec', args);
  } catch (cause) {
    if (!(cause instanceof OperatingError) || cause.code !== 'exec_failed') throw cause;
    const { code, retryable, next, details } = cause;
    // The daemon keeps no command lines, so it cannot say which one this was.
    const message = cause.message.replace(/^the command/, JSON.stringify(argv[0]));
    const exitCode = options.exitStatus ? execFailureStatus(details?.errno) : cause.exitCode;
    throw new OperatingError({ code, message, exitCode, retryable, next, ...(details ? { details } : {}) });
  }
}
