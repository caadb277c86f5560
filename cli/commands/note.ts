/** note: what the client `custody-note` says, by running it; for where a slower way does not matter. */
import { spawnSync } from 'node:child_process';
import type { Command } from 'commander';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { noteClient } from '../../pty/note/client.ts';
import { action } from '../action.ts';
import { usage } from '../failure.ts';
import { example } from '../globalOptions.ts';
import { type Invocation, localAnswer } from '../invocation.ts';

type Said = Readonly<Record<string, string | boolean | undefined>>;

export function registerNote(program: Command): void {
  const note = program
    .command('note')
    .description('tell of a run that is started by somebody else (custody-note is quicker)');
  const verb = (name: string, description: string) =>
    note
      .command(name)
      .description(description)
      .argument('<run>', "the launcher's own name for the run")
      .option('--producer <name>', 'who speaks (default: $CUSTODY_PRODUCER, else shell)')
      .option('--wait <ms>', 'give up waiting after so many ms (default: 100)')
      .option('--strict', 'exit 1 when the note was lost, or lost a part')
      .action(action<Said>((invocation, said, operands) => tell(invocation, { name, said, operands })));
  example(
    verb('reserve', 'a run is about to be started')
      .option('--worktree <dir>', 'where it will work')
      .option('--label <text>', 'what people call it')
      .option('--retry-of <run>', 'the run that it repeats'),
    'custody note reserve build-7 --worktree . --label nightly',
  );
  example(
    verb('bind', 'a living process is the run')
      .option('--pid <pid>', 'which process (default: the one that calls this)')
      .option('--worktree <dir>', 'where it works'),
    'custody note bind build-7 --pid 4711',
  );
  example(
    verb('worktree', 'the run works in a directory').argument('<dir>', 'the directory'),
    'custody note worktree build-7 .',
  );
  example(
    verb('exit', 'the run was seen to end')
      .option('--code <n>', 'its exit status')
      .option('--signal <name>', 'or the signal that ended it'),
    'custody note exit build-7 --code 0',
  );
  example(
    note.command('path').description('where the client is, for launchers that call it directly').action(action(path)),
    'custody note path',
  );
}

interface Sentence {
  readonly name: string;
  readonly said: Said;
  readonly operands: readonly string[];
}

/** Exit 0 also when the note is lost, unless --strict. Throws `usage`, and `note_client_missing` (exit 8). */
function tell({ output, globals }: Invocation, { name, said, operands }: Sentence): number {
  const caller = name === 'bind' ? { pid: String(process.ppid) } : {};
  const all: Said = { ...caller, ...said, strict: undefined, 'state-dir': globals.stateDir };
  const flags = Object.entries(all).flatMap(([key, value]) =>
    typeof value === 'string' ? [`--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}=${value}`] : [],
  );
  const { status, stderr } = spawnSync(client(), [name, '--strict', ...flags, '--', ...operands], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  const message = stderr.replace(/^custody-note: /, '').trim();
  if (status === 2) throw usage(message.replace(/; see --help$/, ''), [`custody note ${name} --help`]);
  const isTold = status === 0;
  const warnings = isTold ? [] : [message || 'this note is lost: the client was ended'];
  const answer = { ...localAnswer(`note.${name}`, { told: isTold }, isTold || said.strict !== true ? 0 : 1), warnings };
  return output.answer(answer, () => []);
}

const path = ({ output }: Invocation): number =>
  output.answer(localAnswer('note.path', { path: client() }), ({ path }) => [path]);

function client(): string {
  const found = noteClient();
  if (found !== undefined) return found;
  throw new OperatingError({
    code: 'note_client_missing',
    message: 'the client custody-note is not built here',
    exitCode: 8,
    next: ['npm rebuild -g custody', 'in a checkout: node pty/build.mjs'],
  });
}
