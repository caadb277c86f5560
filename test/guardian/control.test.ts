import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { holdInShell, turns } from './support/fifo.ts';
import { rawClient } from './support/rawClient.ts';
import type { Scope } from './support/scope.ts';
import { run, workDirectory } from './support/scope.ts';

let scope: Scope;
let finish: () => Promise<void>;

beforeEach(async () => {
  const t = turns(workDirectory());
  scope = await run(['sh', '-c', holdInShell(t)]);
  await t.ready();
  finish = async () => {
    await t.release();
    expect((await scope.launch.exited).code).toBe(0);
  };
});

const connected = () => rawClient(scope.directory);

describe('the control socket (PRIV-04)', () => {
  it.each([
    'nonsense',
    '',
    'terminate',
    'terminate 1',
    'terminate -1 5',
    'terminate 1 5 9',
    'terminate 1 99999999999',
    'members please',
    'done',
    '{"a":1}',
  ])('answers %j with an error and goes on', async (request) => {
    const { socket, line } = await connected();
    socket.write(`${request}\n`);
    expect(JSON.parse((await line())!)).toEqual({ error: 'badRequest' });
    socket.write('hello 1\n');
    expect(JSON.parse((await line())!)).toMatchObject({ protocol: 1, scope: 'S0123456789', terminating: false });
    await finish();
  });

  it('takes requests that arrive in pieces or together', async () => {
    const { socket, line } = await connected();
    for (const byte of 'hello 1\nhel') socket.write(byte);
    expect(JSON.parse((await line())!)).toMatchObject({ phase: 'running' });
    socket.write('lo 1\nhello 1\n');
    expect([await line(), await line()].map((one) => JSON.parse(one!).protocol)).toEqual([1, 1]);
    await finish();
  });

  it('drops a client that sends no line, and serves the others', async () => {
    const { socket, line } = await connected();
    socket.write('x'.repeat(500));
    expect(await line()).toBeUndefined();
    const other = await connected();
    other.socket.write('hello 1\n');
    expect(JSON.parse((await other.line())!).phase).toBe('running');
    await finish();
  });

  it('drops a client that does not read', async () => {
    const { socket } = await connected();
    const written = () => new Promise<boolean>((resolve) => socket.write('members\n'.repeat(100), (e) => resolve(!e)));
    while (await written());
    const other = await connected();
    other.socket.write('hello 1\n');
    expect(JSON.parse((await other.line())!).phase).toBe('running');
    await finish();
  });

  it('has room for many clients, and closes what exceeds it', async () => {
    const clients = await Promise.all(Array.from({ length: 40 }, connected));
    const answers = await Promise.all(
      clients.map(({ socket, line }) => {
        socket.write('hello 1\n');
        return line();
      }),
    );
    expect(answers.filter((answer) => answer !== undefined).length).toBe(32);
    for (const { socket } of clients) socket.destroy();
    await finish();
  });

  it('does not speak with another user', async () => {
    execFileSync('chmod', ['-R', 'a+rwX', join(scope.directory, '..')]); // only the peer check is left
    const other = process.getuid!() === 0 ? 65_534 : process.getuid!(); // an ordinary user has no second one to try
    const script = `require('net').connect(process.argv[1]).on('error', () => {}).end('hello 1\\n').pipe(process.stdout)`;
    const socket = join(scope.directory, 'ctl.sock');
    const said = execFileSync(process.execPath, ['-e', script, socket], { encoding: 'utf8', cwd: '/', uid: other });
    expect(said === '').toBe(other !== process.getuid!());
    await finish();
  });
});
