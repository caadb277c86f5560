/** D6: the last words of a terminal are never lost. D11: what is typed arrives whole, and once. */
import { readFile } from 'node:fs/promises';
import { expectThat, found } from '../../demo/expectation.ts';
import type { Workplace } from '../../demo/stage.ts';
import { type Drill, type Drilling, exec, patienceMs, proved, workplace } from '../drill.ts';

const terminal = { cols: 80, rows: 24 } as const;

async function sessionOf({ installation }: Drilling, { goalId }: Workplace, runId: string) {
  const { sessions } = await installation.call('sessions.list', { goalId, all: true });
  return found(
    sessions.find((session) => session.runId === runId),
    'a session for the run',
  );
}

const lines = 320;
const words = '0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqr';
/** A terminal ends each line with two characters (termios(3), ONLCR). */
const lastBytes = lines * (words.length + 2);
const times = 20;

async function lastWords(drilling: Drilling): Promise<readonly string[]> {
  const place = await workplace(drilling, 'the last words');
  const script = `i=0; while [ $i -lt ${lines} ]; do echo ${words}; i=$((i+1)); done; exit 3`;
  for (let nth = 1; nth <= times; nth += 1) {
    const run = await exec(drilling, place, { script, terminal });
    await proved(drilling, run.runId);
    const { capture, bytes, result } = await sessionOf(drilling, place, run.runId);
    const isWhole = capture === 'complete' && bytes === lastBytes && result?.code === 3;
    expectThat(isWhole, `the transcript is complete (${nth} of ${times})`, { capture, bytes, result });
  }
  return [`${times} times ${lastBytes} bytes and exit 3: every transcript complete`];
}

const lengths = [1, 1_200, 4_500, 100_000];
const pattern = [...'grüße an 🙂 und 👩‍🚀, mit 日本語; '];
const textOf = (length: number): string =>
  Array.from({ length }, (_, at) => pattern[(at + 9) % pattern.length]).join('');

/** Asks for bracketed paste, takes what it is told to expect, and whatever comes within half a second after that. */
const reader = `stty raw -echo; printf '\\033[?2004hready'; head -c "$1" > "$2"
stty min 0 time 5; head -c 64 >> "$2"; exit 0`;

async function prompt(drilling: Drilling): Promise<readonly string[]> {
  const { installation } = drilling;
  const place = await workplace(drilling, 'the prompt');
  for (const length of lengths) {
    const text = Buffer.from(textOf(length));
    const expected = Buffer.concat([Buffer.from('\u001b[200~'), text, Buffer.from('\u001b[201~\r')]);
    const path = drilling.file(`got-${length}`);
    const operands = [String(expected.length), path];
    const run = await exec(drilling, place, { script: reader, operands, terminal });
    const { sessionId } = await sessionOf(drilling, place, run.runId);
    const until = { kind: 'text', text: 'ready' } as const;
    await installation.call('sessions.wait', { id: sessionId, until, waitMs: patienceMs });
    await installation.call('sessions.send', { id: sessionId, bytes: text.toString('base64'), enter: true });
    await proved(drilling, run.runId);
    const got = await readFile(path);
    expectThat(got.equals(expected), `${length} characters arrive whole, and once`, {
      expected: expected.length,
      got: got.length,
    });
  }
  return [`${lengths.join(', ')} characters read back byte for byte, submitted once`];
}

export const terminalDrills: readonly Drill[] = [
  { name: 'D6', title: 'the last words of a terminal are kept', run: lastWords },
  { name: 'D11', title: 'a prompt arrives whole, and once', run: prompt },
];
