import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardianBinary, guardianDigest } from '../../pty/launch/binary.ts';
import { GuardianLaunchError } from '../../pty/launch/errors.ts';
import { encodeFrame } from '../../pty/launch/frame.ts';
import { statOf } from '../guardian/support/processes.ts';
import { guardianBuiltWith, wrapped } from '../guardian/support/programs.ts';
import { gated, run, runToEnd, workDirectory } from '../guardian/support/scope.ts';
import { eventually } from '../support/eventually.ts';

/** Something that is no guardian, in a place where one is expected. It writes its pid beside itself. */
function impostor(script: string): { guardianPath: string; pid: () => Promise<number> } {
  const directory = workDirectory();
  const guardianPath = join(directory, 'impostor');
  writeFileSync(guardianPath, `#!/bin/sh\necho $$ > '${directory}/pid'\n${script}\n`);
  chmodSync(guardianPath, 0o755);
  const pid = () =>
    eventually('pid of the impostor', () => {
      return existsSync(`${directory}/pid`) ? Number(readFileSync(`${directory}/pid`, 'utf8')) || undefined : undefined;
    });
  return { guardianPath, pid };
}

const ready =
  '{"event":"ready","protocol":1,"guardian":{"pid":1,"start":"1","pidfs":null},"workload":{"pid":2,"start":"1","pidfs":null},"boot":"b","pidns":"1","timens":"1","uid":0}';

/** Otherwise closing the link would break our write, and with it the conversation. */
const takeFrame = 'dd bs=1M count=1 <&3 >/dev/null 2>&1';

describe('a guardian that is none ends the launch with a named error, and is reaped', () => {
  it.each([
    ['leaves at once', 'exit 3', 'guardian_died'],
    ['dies at once', 'kill -9 $$', 'guardian_died'],
    ['closes the link and stays', 'exec 3>&-; exec sleep 1000', 'guardian_died'],
    ['says nothing', 'exec sleep 1000', 'handshake_timeout'],
    ['ignores what it is told', 'trap "" TERM HUP INT; while :; do sleep 1000; done', 'handshake_timeout'],
    ['stops', 'kill -STOP $$', 'handshake_timeout'],
    ['says something else', 'echo hello >&3; exec sleep 1000', 'protocol_error'],
    [
      'speaks another protocol',
      `echo '${ready.replace('"protocol":1', '"protocol":2')}' >&3; sleep 1000`,
      'protocol_error',
    ],
    ['opens the gate by itself', `echo '{"event":"released"}' >&3; exec sleep 1000`, 'protocol_error'],
    ['never ends its line', 'head -c 100000 /dev/zero >&3; exec sleep 1000', 'guardian_died'],
  ])('%s', async (_name, script, code) => {
    const { guardianPath, pid } = impostor(script);
    const attempt = gated(['true'], { guardianPath, handshakeMs: 300 });
    await expect(attempt).rejects.toMatchObject({ name: 'GuardianLaunchError', code, phase: 'handshake' });
    expect(statOf(await pid())).toBeUndefined();
  });

  it('is missing', async () => {
    const attempt = gated(['true'], { guardianPath: join(workDirectory(), 'nothing') });
    await expect(attempt).rejects.toMatchObject({ code: 'guardian_missing', phase: 'spawn', errno: 2 });
  });

  it('may not be executed', async () => {
    const attempt = gated(['true'], { guardianPath: workDirectory() });
    await expect(attempt).rejects.toMatchObject({ code: 'spawn_failed', phase: 'spawn', errno: 13 });
  });
});

describe('a guardian that fails behind the handshake', () => {
  it.each([
    ['dies', `echo '${ready}' >&3; read -r line <&3; kill -9 $$`, 'release_uncertain'],
    ['says nothing', `echo '${ready}' >&3; exec sleep 30`, 'release_uncertain'],
    ['answers nonsense', `echo '${ready}' >&3; echo x >&3; exec sleep 30`, 'release_uncertain'],
    ['had closed the link', `${takeFrame}; echo '${ready}' >&3; exec 3>&-; exec sleep 30`, 'release_uncertain'],
  ])('%s: nobody claims that the workload did not run', async (_name, script, code) => {
    const { guardianPath } = impostor(script);
    const scope = await gated(['true'], { guardianPath, handshakeMs: 300 });
    await expect(scope.launch.openGate()).rejects.toMatchObject({ code, phase: 'gate' });
  });

  it('is stopped before the gate: abandoning does not wait for it', async () => {
    const directory = workDirectory();
    const guardianPath = wrapped(directory, ['step', 'stop:ready'], guardianBuiltWith('TEST_STEPS'));
    const scope = await gated(['touch', join(directory, 'ran')], { guardianPath, handshakeMs: 300 });
    expect(await scope.launch.abandon()).toEqual({ code: null, signal: 'SIGKILL' });
    expect(existsSync(join(directory, 'ran'))).toBe(false);
  });

  it('is stopped after the fork: the handshake ends, and nothing runs', async () => {
    const directory = workDirectory();
    const guardianPath = wrapped(directory, ['step', 'stop:started'], guardianBuiltWith('TEST_STEPS'));
    const attempt = gated(['touch', join(directory, 'ran')], { guardianPath, handshakeMs: 300 });
    await expect(attempt).rejects.toMatchObject({ code: 'handshake_timeout' });
    expect(existsSync(join(directory, 'ran'))).toBe(false);
  });
});

describe('a launch', () => {
  it('opens its gate once, however often it is asked', async () => {
    const scope = await gated(['sh', '-c', 'echo once']);
    const answers = await Promise.all([scope.launch.openGate(), scope.launch.openGate()]);
    expect(answers).toEqual([{ released: true }, { released: true }]);
    await scope.launch.exited;
    expect(scope.stdout()).toBe('once\n');
    expect(await scope.launch.openGate()).toEqual({ released: true });
  });

  it('cannot be abandoned once its gate is open', async () => {
    const scope = await run(['sh', '-c', 'exit 4'], { handshakeMs: 2000 });
    expect(await scope.launch.abandon()).toEqual({ code: 0, signal: null });
    expect(scope.receipt('exit').code).toBe(4);
  });

  it('leaves no descriptor and no process behind', async () => {
    const open = () => readdirSync('/proc/self/fd').length;
    await runToEnd(['true']);
    const before = open();
    for (let at = 0; at < 20; at++) {
      const scope = await gated(['true']);
      if (at % 2 === 0) await scope.launch.abandon();
      else await scope.launch.openGate();
      await scope.launch.exited;
      expect(statOf(scope.launch.pid)).toBeUndefined();
    }
    expect(open()).toBeLessThanOrEqual(before);
  });

  it('runs twenty at a time', async () => {
    const scopes = await Promise.all(Array.from({ length: 20 }, (_, at) => runToEnd(['sh', '-c', `exit ${at}`])));
    expect(scopes.map((scope) => scope.receipt('exit').code)).toEqual(scopes.map((_, at) => at));
  });

  it('gives the guardian nothing of our environment, and says nothing in its arguments (ruling 19)', async () => {
    const script = 'tr "\\0" "\\n" < /proc/$PPID/environ 2>/dev/null | grep -c .';
    const scope = await runToEnd(['sh', '-c', `${script}; tr '\\0' ' ' < /proc/$PPID/cmdline`]);
    const [variables, commandLine] = scope.stdout().split('\n');
    expect(variables).toBe('0');
    expect(commandLine?.trim()).toBe(`${await guardianBinary()} run`);
  });

  it('passes arguments and environment of megabytes', async () => {
    const big = Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`V${at}`, 'x'.repeat(100_000)]));
    const scope = await runToEnd(['sh', '-c', 'env | wc -c'], { env: { PATH: process.env.PATH!, ...big } });
    expect(Number(scope.stdout())).toBeGreaterThan(1_500_000);
  });
});

describe('a request that cannot be passed on', () => {
  const frame = {
    scopeId: 'S1',
    scopeDir: '/s',
    installationId: 'I1',
    slots: {
      start: { dev: '1', ino: '1', nonce: 'n', nonceHash: 'h' },
      status: { dev: '1', ino: '2', nonce: 'n', nonceHash: 'h' },
      exit: { dev: '1', ino: '3', nonce: 'n', nonceHash: 'h' },
      adopted: { dev: '1', ino: '4' },
    },
    argv: ['true'],
    env: {},
    cwd: '/',
    umask: 0o22,
    handshakeMs: 1,
  };

  it.each([
    ['no arguments', { argv: [] }],
    ['NUL in an argument', { argv: ['a\0b'] }],
    ['NUL in the environment', { env: { A: 'x\0arg=evil' } }],
    ['a relative directory', { cwd: 'x' }],
    ['a relative scope directory', { scopeDir: 'x' }],
    ['more than 8 MiB', { env: { A: 'x'.repeat(8 * 1024 * 1024) } }],
  ])('%s', (_name, change) => {
    expect(() => encodeFrame({ ...frame, ...change })).toThrow(GuardianLaunchError);
    expect(() => encodeFrame({ ...frame, ...change })).toThrow(/request_invalid/);
  });

  it('says what to do next, always', () => {
    const error = new GuardianLaunchError({
      code: 'guardian_refused',
      phase: 'handshake',
      errno: 28,
      step: 'slotExit',
    });
    expect(error.message).toBe('guardian_refused in handshake (slotExit, ENOSPC)');
    expect(error.next.length).toBe(1);
  });
});

describe('the executable', () => {
  it('is found from here, and its digest is that of its bytes', async () => {
    const path = await guardianBinary();
    expect(path.endsWith('/custody-guardian')).toBe(true);
    expect(guardianDigest(path)).toMatch(/^[0-9a-f]{64}$/);
  });
});
