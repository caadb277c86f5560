import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SignalRequest } from '../../pty/launch/signal.ts';
import { signalProcess } from '../../pty/launch/signal.ts';
import { isGone, statOf } from './support/processes.ts';
import { guardian, guardianBuiltWith } from './support/programs.ts';

async function sleeper(): Promise<{ request: SignalRequest; exited: Promise<unknown[]> }> {
  const child = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  const { start } = statOf(child.pid!)!;
  const request = {
    guardianPath: guardian(),
    pid: child.pid!,
    start,
    uid: process.getuid!(),
    signal: 'SIGTERM',
  } as const;
  return { request, exited: once(child, 'exit') };
}

describe('a signal to a recorded process (linux case 66, SHUT-04)', () => {
  it('reaches it', async () => {
    const { request, exited } = await sleeper();
    expect(await signalProcess({ ...request, signal: 0 })).toBe('sent');
    expect(await signalProcess(request)).toBe('sent');
    expect(await exited).toEqual([null, 'SIGTERM']);
  });

  it.each([
    ['start time', (request: SignalRequest) => ({ ...request, start: String(BigInt(request.start) - 1n) })],
    ['user', (request: SignalRequest) => ({ ...request, uid: request.uid + 1 })],
  ])('reaches nobody when the %s is another', async (_name, changed) => {
    const { request, exited } = await sleeper();
    expect(await signalProcess({ ...changed(request), signal: 'SIGKILL' })).toBe('identity_differs');
    expect(await signalProcess(request)).toBe('sent');
    expect(await exited).toEqual([null, 'SIGTERM']); // and not SIGKILL
  });

  it('would reach the wrong process without the comparison', async () => {
    const { request, exited } = await sleeper();
    const guardianPath = guardianBuiltWith('WITHOUT_IDENTITY_CHECK');
    expect(await signalProcess({ ...request, guardianPath, start: '1', signal: 'SIGKILL' })).toBe('sent');
    expect(await exited).toEqual([null, 'SIGKILL']);
  });

  it('says so when the process has gone', async () => {
    const { request, exited } = await sleeper();
    await signalProcess({ ...request, signal: 'SIGKILL' });
    await exited;
    await isGone(request.pid);
    expect(await signalProcess(request)).toBe('gone');
  });

  it('says so when it may not be sent', async () => {
    const { request, exited } = await sleeper();
    const args = ['signal', String(request.pid), request.start, String(request.uid), '15'];
    const other = process.getuid!() === 0 ? { command: guardian(), uid: 65_534 } : { command: guardian() };
    const target = process.getuid!() === 0 ? args : ['signal', '1', statOf(1)!.start, '0', '15'];
    const [code] = await once(
      spawn(other.command, target, { stdio: 'ignore', ...('uid' in other && { uid: other.uid }) }),
      'exit',
    );
    expect(code).toBe(5);
    await signalProcess(request);
    await exited;
  });

  it.each([[[]], [['0', '1', '0', '15']], [['1', 'x', '0', '15']], [['1', '1', '0', '65']], [['-1', '1', '0', '15']]])(
    'refuses %j',
    async (words) => {
      const [code] = await once(spawn(guardian(), ['signal', ...words], { stdio: 'ignore' }), 'exit');
      expect(code).toBe(2);
    },
  );
});

describe('the guardian’s sources', () => {
  it('name no call that signals a pid: every signal goes through a descriptor of one process (SHUT-04)', () => {
    const folder = fileURLToPath(new URL('../../pty/guardian', import.meta.url));
    const sources = readdirSync(folder).filter((name) => /\.[ch]$/.test(name));
    expect(sources.length).toBeGreaterThan(20);
    const offenders = sources.filter((name) =>
      /\b(t?g?kill|killpg|sigqueue)\s*\(/.test(readFileSync(join(folder, name), 'utf8')),
    );
    expect(offenders).toEqual([]);
  });
});
