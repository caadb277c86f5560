/** runs exec --pty: the same launch, in a terminal of its own. */
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exited, testTerminal } from '../support/terminal.ts';
import { sessions } from '../support/terminalSessions.ts';

it('tells the ids and how to attach, in a terminal of the size and kind that was asked for', async () => {
  const own = await sessions();
  const { goalId } = await own.daemon.goal();
  const script = 'stty size; echo $TERM; exec cat';
  const plain = await own.custody(['runs', 'exec', goalId, '--pty', '--', 'sh', '-c', script]);
  const [, sessionId = ''] = /^session +(P\w+)$/m.exec(plain.stdout) ?? [];
  expect(plain.stdout).toMatch(/^run +R\w+$/m);
  expect(plain.stdout).toContain(`custody sessions attach ${sessionId}`);
  await own.custody(['sessions', 'wait', sessionId, '--for', '24 80', '--timeout', '30s']);
  const options = ['--pty', '--size', '100x30', '--term', 'screen', '-q'];
  const { stdout } = await own.custody(['runs', 'exec', goalId, ...options, '--', 'sh', '-c', script]);
  const [runId, other] = stdout.trim().split('\n');
  expect(runId).toMatch(/^R/);
  const seen = await own.json(['sessions', 'wait', other as string, '--regex', '30 100\\s+screen', '--timeout', '30s']);
  expect(seen.ok).toBe(true);
});

it('follows with the bytes as they are, and ends as the command did', async () => {
  const own = await sessions();
  const { goalId } = await own.daemon.goal();
  const script = "seq 1 20000; printf '\\033[31mred\\n'; exit 7";
  const options = ['--pty', '--follow', '--exit-status'];
  const { code, stdout } = await own.custody(['runs', 'exec', goalId, ...options, '--', 'sh', '-c', script]);
  const lines = Array.from({ length: 20_000 }, (_, at) => `${at + 1}\r\n`);
  expect(stdout).toBe(`${lines.join('')}\x1b[31mred\r\n`);
  expect(code).toBe(7);
});

it('attaches at once, with the size of the terminal at hand', async () => {
  const own = await sessions();
  const { goalId } = await own.daemon.goal();
  const terminal = testTerminal({ cols: 90, rows: 28 });
  const script = 'stty size; read line; exit 5';
  const child = own.on(terminal, [
    'runs',
    'exec',
    goalId,
    '--pty',
    '--attach',
    '--exit-status',
    '--',
    'sh',
    '-c',
    script,
  ]);
  await terminal.shows('28 90');
  await terminal.type('go\r');
  expect(await exited(child)).toEqual({ code: 5, signal: null });
  await terminal.isAsBefore();
});

it('ends what stays silent for too long, and says why', async () => {
  const own = await sessions();
  const { goalId } = await own.daemon.goal();
  const args = ['runs', 'exec', goalId, '--pty', '--idle', '5s', '-q', '--', 'sh', '-c', 'echo once; exec cat'];
  const launched = await own.custody(args);
  expect(launched).toMatchObject({ code: 0, stderr: '' });
  const [, sessionId = ''] = launched.stdout.trim().split('\n');
  const waited = await own.json(['sessions', 'wait', sessionId, '--exit', '--timeout', '1m']);
  expect(waited).toMatchObject({ ok: true, data: { workload: 'final', firstFailure: { cause: 'deadline' } } });
});

it('refuses options that a terminal cannot have, or only a terminal has', async () => {
  const own = await sessions();
  for (const words of [
    ['--size', '80x24'],
    ['--attach'],
    ['--pty', '--stdin', '-'],
    ['--pty', '--attach'],
    ['--pty', '--attach', '--follow'],
    ['--pty', '--size', '0x1'],
  ]) {
    const { stdout } = await own.custody(['runs', 'exec', 'G', '--json', ...words, '--', 'true']);
    expect(JSON.parse(stdout), words.join(' ')).toMatchObject({ error: { code: 'usage' } });
  }
});

it('refuses a schema that could not be sent', async () => {
  const own = await sessions();
  const { goalId } = await own.daemon.goal();
  const schema = own.file('schema.json');
  writeFileSync(schema, `${'{"properties":{"a":'.repeat(5_000)}{}${'}}'.repeat(5_000)}`);
  const options = ['--pty', '--result-schema', schema, '--json'];
  const { code, stdout } = await own.custody(['runs', 'exec', goalId, ...options, '--', 'true']);
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'usage' } });
});
