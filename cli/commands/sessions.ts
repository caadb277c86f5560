/** sessions list, show, result, attach, send, tail, screen, wait, resize, export, stop. */
import { type Command, Option } from 'commander';
import { action } from '../action.ts';
import type { AttachFlags } from '../attach/command.ts';
import { defaultDetachKey, parseDetachKeys } from '../attach/detachKey.ts';
import type { ExportFlags } from '../attach/exporting.ts';
import type { ScreenFlags } from '../attach/screen.ts';
import type { TailFlags } from '../attach/tail.ts';
import { parseDuration, parseWhole } from '../duration.ts';
import { addRequestId, example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { terminalSafeJson } from '../print/escape.ts';
import { endingLines } from '../print/runs.ts';
import { resizedLines, sessionLines, sessionTable } from '../print/sessions.ts';
import { tellTime } from '../wait.ts';
import { registerSend } from './send.ts';
import { registerSessionWait } from './sessionWait.ts';
import { parseSize } from './terminalSize.ts';

export const sessionArgument = ['<session>', 'id or an unambiguous beginning of it'] as const;

export function registerSessions(program: Command): void {
  const sessions = program.command('sessions').description('terminals that Custody keeps: watch, type, read, end');
  example(
    sessions
      .command('list')
      .description('sessions with the state of their work, their output and their scope')
      .option('-a, --all', 'also those that are over')
      .option('--goal <goal>', 'only those of this Goal')
      .action(action(list)),
    'custody sessions list --all',
  );
  example(
    sessions
      .command('show')
      .description('one session: what became of its work, its output and its scope')
      .argument(...sessionArgument)
      .action(action(show)),
    'custody sessions show P5m',
  );
  example(
    sessions
      .command('result')
      .description('the JSON that its agent reported, as it was given; exit 13 unless it counts')
      .argument(...sessionArgument)
      .action(action(result)),
    'custody sessions result P5m',
  );
  registerAttach(sessions);
  registerSend(sessions);
  registerReading(sessions);
  registerSessionWait(sessions);
  example(
    addRequestId(sessions.command('resize').description('give a session another size; its program is told'))
      .argument(...sessionArgument)
      .argument('<size>', 'columns and rows, such as 120x40', parseSize)
      .action(action(resize)),
    'custody sessions resize P5m 120x40',
  );
  example(
    addRequestId(sessions.command('stop').description('end everything that a session has started, with proof'))
      .argument(...sessionArgument)
      .option('--grace <duration>', 'between the polite signal and the freeze', parseDuration)
      .option('--budget <duration>', 'after which the drain counts as stalled', parseDuration)
      .option('--wait <duration>', 'wait this long for the proof', parseDuration)
      .action(action(stop)),
    'custody sessions stop P5m --grace 2s --wait 10s',
  );
}

function registerAttach(sessions: Command): void {
  example(
    sessions
      .command('attach')
      .description('watch a session and type into it, from a window of any size; works while the daemon is down')
      .argument(...sessionArgument)
      .option('-r, --read-only', 'only watch; ctrl-c leaves as well')
      .option('--detach-key <keys>', `what leaves, or none (default: ${defaultDetachKey})`, parseDetachKeys)
      .option('--no-repaint', 'begin with what comes next instead of the screen as it is')
      .option('--resize', 'give the session the size of this terminal, now and whenever that changes')
      .option('--exit-status', 'when the session ends, exit as its command did (128+N for signal N)')
      .action(action(attach)),
    'custody sessions attach P5m',
    'custody sessions attach P5m --read-only --detach-key "ctrl-a d"',
  );
}

function registerReading(sessions: Command): void {
  example(
    sessions
      .command('tail')
      .description('the last lines that a session wrote, byte for byte')
      .argument(...sessionArgument)
      .option('-n, --lines <n>', 'how many (default: 10)', parseWhole(0, 1_000_000))
      .option('-f, --follow', 'and everything that follows, until the session is over')
      .action(action(tail)),
    'custody sessions tail P5m -n 100 -f',
  );
  example(
    sessions
      .command('screen')
      .description('what a person would see, as text')
      .argument(...sessionArgument)
      .option('--cursor', 'with the place of the cursor')
      .action(action(screen)),
    'custody sessions screen P5m --cursor',
  );
  example(
    sessions
      .command('export')
      .description('the transcript for other programs; exit 5 and the reasons when it is not complete')
      .argument(...sessionArgument)
      .addOption(new Option('--format <format>', 'which form (default: raw)').choices(['raw', 'asciicast', 'text']))
      .option('-o, --output <file>', 'where to, in place of what is there (default: standard output)')
      .action(action(exportIt)),
    'custody sessions export P5m --format asciicast -o session.cast',
  );
}

interface ListOptions {
  readonly all?: boolean;
  readonly goal?: string;
}

async function list(invocation: Invocation, { all, goal }: ListOptions): Promise<number> {
  const answer = await invocation.call('sessions.list', { all, goalId: goal });
  return invocation.output.answer(answer, sessionTable, ({ sessions }) => sessions.map(({ sessionId }) => sessionId));
}

async function show(invocation: Invocation, _: unknown, [id = '']: readonly string[]): Promise<number> {
  return invocation.output.answer(await invocation.call('sessions.show', { id }), sessionLines, (data) => [
    data.sessionId,
  ]);
}

/** What talks to the holder of terminals, or reads what it has stored, is loaded where it is needed. */
async function attach(invocation: Invocation, flags: AttachFlags, [id = '']: readonly string[]): Promise<number> {
  return (await import('../attach/command.ts')).attach(invocation, flags, id);
}

async function tail(invocation: Invocation, flags: TailFlags, [id = '']: readonly string[]): Promise<number> {
  return (await import('../attach/tail.ts')).tail(invocation, flags, id);
}

async function screen(invocation: Invocation, flags: ScreenFlags, [id = '']: readonly string[]): Promise<number> {
  return (await import('../attach/screen.ts')).screen(invocation, flags, id);
}

async function exportIt(invocation: Invocation, flags: ExportFlags, [id = '']: readonly string[]): Promise<number> {
  return (await import('../attach/exporting.ts')).exportSession(invocation, flags, id);
}

async function resize(invocation: Invocation, _: unknown, operands: readonly unknown[]): Promise<number> {
  const [id, size] = operands as [string, ReturnType<typeof parseSize>];
  const { requestId, output } = invocation;
  const answer = await invocation.call('sessions.resize', { id, ...size, requestId });
  return output.answer(answer, resizedLines, (data) => [data.sessionId]);
}

async function result(invocation: Invocation, _: unknown, [id = '']: readonly string[]): Promise<number> {
  const { output } = invocation;
  const answer = await invocation.call('sessions.result', { id });
  const { text, ...which } = answer.data;
  // On a terminal nothing that an agent wrote may act; anybody else gets every byte.
  if (output.json || process.stdout.isTTY) {
    const data = { ...which, value: JSON.parse(text) as unknown };
    return output.answer({ ...answer, data }, ({ value }) => [terminalSafeJson(value)]);
  }
  await output.bytes('stdout', Buffer.from(text));
  return answer.exitCode;
}

interface StopOptions {
  readonly grace?: number;
  readonly budget?: number;
  readonly wait?: number;
}

/** A session ends with its run. */
async function stop(invocation: Invocation, options: StopOptions, [typed = '']: readonly string[]): Promise<number> {
  const { requestId, output } = invocation;
  const { grace: graceMs, budget: budgetMs, wait: waitMs } = options;
  const { sessionId, runId: id } = (await invocation.call('sessions.show', { id: typed })).data;
  const done = tellTime(invocation, `draining ${sessionId}`);
  try {
    const answer = await invocation.call('runs.stop', { id, graceMs, budgetMs, waitMs, requestId });
    const data = { ...answer.data, sessionId };
    return output.answer(
      { ...answer, command: 'sessions.stop', data },
      (view, style) => endingLines(sessionId, view, style),
      () => [sessionId],
    );
  } finally {
    done();
  }
}
