/** runs exec --pty: the same launch, in a terminal of its own. */
import { type Command, InvalidArgumentError } from 'commander';
import type { CallArguments } from '../../actors/daemon/api/contract.ts';
import type { CallResults } from '../../actors/daemon/api/results.ts';
import { type Grant, grantable } from '../../actors/runtime/credentials.ts';
import type { OperatingError } from '../../actors/runtime/operatingError.ts';
import { parseDuration } from '../duration.ts';
import { usage } from '../failure.ts';
import { readInput } from '../input.ts';
import type { Invocation } from '../invocation.ts';
import type { Answer } from '../output.ts';
import { line } from '../print/escape.ts';
import { parseSize } from './terminalSize.ts';

export interface TerminalFlags {
  readonly pty?: boolean;
  readonly size?: ReturnType<typeof parseSize>;
  readonly term?: string;
  readonly idle?: number;
  readonly startup?: number;
  readonly resultSchema?: string;
  /** True with --transcript, false with --no-transcript; absent where the configuration decides. */
  readonly transcript?: boolean;
  readonly grant?: readonly Grant[];
  readonly attach?: boolean;
  readonly stdin?: string;
  readonly wait?: number | true;
  readonly follow?: boolean;
  readonly exitStatus?: boolean;
}

export function addTerminalOptions(command: Command): void {
  command
    .option('--pty', 'in a terminal of its own, which outlives the daemon (see custody sessions)')
    .option('--size <size>', 'with --pty: columns and rows (default: those of this terminal, else 80x24)', parseSize)
    .option('--term <name>', 'with --pty: its TERM (default: xterm-256color)')
    .option('--idle <duration>', 'with --pty: longest silence, then it is ended', parseDuration)
    .option('--startup <duration>', 'with --pty: longest time until it says something', parseDuration)
    .option('--result-schema <file>', 'with --pty: JSON Schema that `custody agent result` has to fit')
    .option('--transcript', 'with --pty: keep what it says on the disk (default: as configured)')
    .option('--no-transcript', 'with --pty: write nothing of what it says to the disk')
    .option('--grant <right>', 'with --pty: let it use custody for more: goals or sessions (repeatable)', grantOf)
    .option('--attach', 'with --pty: show it here and type into it at once');
}

function grantOf(value: string, before: readonly Grant[] = []): readonly Grant[] {
  const grant = grantable.find((one) => one === value);
  if (grant !== undefined) return [...before, grant];
  throw new InvalidArgumentError('Give goals (look at Goals, create them) or sessions (look at them, type into them).');
}

/** Options that only a terminal has, and those that it cannot have. */
export function assertTerminalUsable(options: TerminalFlags): void {
  const { pty, stdin, attach, wait, follow } = options;
  const flags = { size: '--size', term: '--term', idle: '--idle', startup: '--startup', attach: '--attach' } as const;
  const transcript = options.transcript === false ? '--no-transcript' : '--transcript';
  const given = Object.entries({ ...flags, resultSchema: '--result-schema', grant: '--grant', transcript }).find(
    ([name]) => options[name as keyof TerminalFlags] !== undefined,
  );
  if (!pty && given) throw usage(`${given[1]} needs --pty`, [`custody runs exec GOAL --pty ${given[1]} ... -- CMD...`]);
  if (pty && stdin !== undefined) {
    throw usage('a terminal is its own standard input: --stdin and --pty exclude each other', [
      'custody sessions send SESSION --file FILE',
    ]);
  }
  if (attach && (wait || follow)) {
    throw usage('--attach stays until the end or until you detach: leave out --wait and --follow', [
      'custody runs exec GOAL --pty --attach -- CMD...',
    ]);
  }
  if (attach && !(process.stdin.isTTY && process.stdout.isTTY)) {
    throw usage('--attach takes a terminal, and this is none', ['custody runs exec GOAL --pty --follow -- CMD...']);
  }
}

/** More than a schema ever has. */
const largestSchema = 262_144;

/** Undefined for a launch without a terminal. */
export async function terminalOf(options: TerminalFlags): Promise<CallArguments<'runs.exec'>['terminal']> {
  const { pty, size = ownSize(), term, idle: idleMs, startup: startupMs, resultSchema, grant, transcript } = options;
  if (!pty) return undefined;
  const schema = resultSchema === undefined ? undefined : await schemaIn(resultSchema);
  return {
    ...size,
    term,
    idleMs,
    startupMs,
    resultSchema: schema,
    grants: grant && [...grant],
    recorded: transcript,
  };
}

function ownSize(): { readonly cols: number; readonly rows: number } {
  const { columns = 80, rows = 24 } = [process.stdout, process.stderr].find(({ isTTY }) => isTTY) ?? {};
  return { cols: Math.max(1, columns), rows: Math.max(1, rows) };
}

async function schemaIn(file: string): Promise<Record<string, unknown>> {
  const text = (await readInput('--result-schema', file, largestSchema)).toString('utf8');
  try {
    const value: unknown = JSON.parse(text);
    // What is nested so deeply that it cannot be written again could not be sent either.
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && JSON.stringify(value) !== '')
      return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw usage(`--result-schema ${file}: it is no JSON object, or nested too deeply`, [
    '--result-schema FILE with a JSON Schema',
  ]);
}

export async function attachTo(invocation: Invocation, sessionId: string, flags: TerminalFlags): Promise<number> {
  const { attach } = await import('../attach/command.ts');
  return attach(invocation, flags.exitStatus ? { exitStatus: true } : {}, sessionId);
}

/** Shows all that it says, then asks what became of it. */
export async function followTerminal(
  invocation: Invocation,
  { runId, sessionId }: CallResults['runs.exec'],
): Promise<Answer<CallResults['runs.wait']>> {
  const { followSession } = await import('../attach/tail.ts');
  await followSession(invocation, sessionId as string).catch((error: OperatingError) => {
    // It was over before anybody could look. The answer is how it ended.
    if (error.code !== 'transcript_not_recorded') throw error;
    invocation.output.note(line`${error.message}`);
  });
  const ended = await invocation.call('runs.wait', { id: runId, until: 'ended' });
  if (invocation.output.json) invocation.output.answer(ended, () => []);
  return ended;
}
