/**
 * What `custody-archive` and `custody-remove` have in common: a ticket in a file, one answer, one exit status. They ask no
 * daemon, and look at no process (WT-07): the ticket says all that they have to know.
 */
import { readFileSync } from 'node:fs';
import { type Executed, type Executor, execute } from '../actors/executor/execute.ts';
import type { Moment } from '../actors/executor/ticket.ts';
import { OperatingError } from '../actors/runtime/operatingError.ts';
import { endWithReader } from './closedReader.ts';
import { requireOperator } from './credential.ts';
import { failureOf, usage } from './failure.ts';
import { readInput } from './input.ts';
import { Output } from './output.ts';
import { line } from './print/escape.ts';
import { version } from './version.ts';

const largestTicket = 65_536;

export interface ExecutorProgram {
  readonly name: Executor['name'];
  /** What it does with the worktree, for its help. */
  readonly does: string;
}

/** Sets the exit status of the process. */
export async function runExecutor(program: ExecutorProgram, words: readonly string[]): Promise<void> {
  endWithReader(process.stdout);
  endWithReader(process.stderr);
  process.umask(0o077);
  const output = new Output({
    json: words.includes('--json'),
    quiet: false,
    color: !words.includes('--no-color'),
  });
  try {
    process.exitCode = await answered(program, words, output);
  } catch (thrown) {
    const error = failureOf(withErrno(thrown));
    output.failure(error);
    process.exitCode = error.exitCode;
  }
}

async function answered({ name, does }: ExecutorProgram, words: readonly string[], output: Output): Promise<number> {
  if (words.includes('--help') || words.includes('-h')) {
    output.text(help({ name, does }));
    return 0;
  }
  if (words.includes('--version')) {
    output.text(`${name} ${version}`);
    return 0;
  }
  const unknown = words.find((word) => /^-./.test(word) && word !== '--json' && word !== '--no-color');
  const files = words.filter((word) => !/^-./.test(word));
  if (unknown !== undefined || files.length !== 1) {
    const message = unknown === undefined ? `${name} takes one ticket` : `${name} knows no option ${unknown}`;
    throw usage(message, [`${name} --help`]);
  }
  requireOperator();
  const text = (await readInput('TICKET', files[0]!, largestTicket)).toString('utf8');
  const data = execute({ name, now }, text);
  return output.answer({ command: name, data, warnings: [], journalPosition: null, exitCode: 0 }, lines, ids);
}

const ids = ({ file }: Executed): readonly string[] => [file];

function lines({ receipt, file }: Executed): readonly string[] {
  const { outcome, path, to, generationId } = receipt;
  return [
    to === null ? line`${outcome}: ${path}` : line`${outcome}: ${path} is ${to} now`,
    line`receipt: ${file}`,
    line`next: custody worktrees retire ${generationId} --receipt ${file}`,
  ];
}

/** CLOCK_MONOTONIC, as the deadline of a ticket is kept (TIME-01). */
function now(): Moment {
  const monoMs = Number(process.hrtime.bigint() / 1_000_000n);
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return { wallMs: Date.now(), monoMs, bootId };
}

/** What the file system refuses is no fault of the program: it is said, and the same ticket may be tried again. */
function withErrno(thrown: unknown): unknown {
  const { code, path, syscall } = (thrown ?? {}) as NodeJS.ErrnoException;
  if (thrown instanceof OperatingError || syscall === undefined) return thrown;
  return new OperatingError(
    {
      code: 'executor_failed',
      message: `${syscall} ${path ?? ''}: ${code}`,
      exitCode: 10,
      retryable: true,
      next: ['see who may write there, and repeat the command with the same ticket'],
    },
    thrown,
  );
}

const help = ({ name, does }: ExecutorProgram): string => `Usage: ${name} TICKET [--json]

${does}
It acts on the one directory that the ticket names, puts it aside in one step first, follows no link, enters no other
mount, and leaves a receipt. Killed half way, it goes on when it is run again with the same ticket.

  TICKET      file that custody worktrees ticket has written, - for standard input
  --json      print one JSON object
  --version   print the version

Examples:
  $ custody worktrees ticket W7p --executor ${name}
  $ ${name} TICKET-FILE
  $ custody worktrees retire W7p --receipt RECEIPT-FILE`;
