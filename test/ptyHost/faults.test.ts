/** What node-pty, libuv and the kernel are known to do to whoever holds a terminal (linux cases 75-88). */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { isAlive, isGone } from '../guardian/support/processes.ts';
import { appeared } from '../guardian/support/scope.ts';
import { killGuardian } from '../support/guardianPair.ts';
import { type Peer, ptyHost, readReceipt, type TestHost } from './support/host.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Descriptors of a process that are masters of terminals. */
function mastersOf(pid: number): string[] {
  const directory = `/proc/${pid}/fd`;
  return readdirSync(directory).filter((fd) => {
    try {
      return readlinkSync(join(directory, fd)).includes('ptmx');
    } catch {
      return false;
    }
  });
}

/** User and system time in clock ticks (proc_pid_stat(5), fields 14 and 15). */
function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

describe('a terminal whose holder', () => {
  it('dies hangs up its workload, and the receipts complete (75, 76, PTY-10)', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const turn = turns(host.directory);
    const script = `echo $$ > ${turn.paths[0]}; exec sleep 600`;
    const session = await host.open(daemon, ['sh', '-c', script]);
    await turn.ready();
    host.child.kill('SIGKILL');
    await appeared(session.scopeDir, 'exit.json');
    expect(readReceipt(session.scopeDir, 'status')).toMatchObject({ how: 'signaled', signal: 1 });
  });

  it('loses its guardian is not hung up, and its output is still read until the daemon ends the capture (77)', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const session = await host.open(daemon, ['sh', '-c', 'while read line; do echo "got $line"; done']);
    killGuardian(session.ready.guardian);
    await daemon.event('guardianEnded', session.id);
    expect(isAlive(session.ready.workload.pid)).toBe(true);
    const viewer = await host.viewer();
    await viewer.ask({ do: 'attach', sessionId: session.id, mode: 'every byte', readOnly: false, from: 0 });
    viewer.client.type(Buffer.from('hello\n'));
    await viewer.shows('got hello');
    process.kill(session.ready.workload.pid, 'SIGKILL');
    await isGone(session.ready.workload.pid);
    const end = await daemon.ask({ do: 'finish', sessionId: session.id, reason: 'guardian_lost', withinMs: 50 });
    expect(end).toMatchObject({ eof: false, complete: false, reason: 'guardian_lost' });
    expect(session.transcript().toString()).toContain('got hello');
  });
});

describe('a terminal that no process of the work has open for a while (PTY-07)', () => {
  it.each([
    ['its guardian lives', 'tty', false],
    ['its guardian lives', 'path', false],
    ['its guardian was killed', 'tty', true],
    ['its guardian was killed', 'path', true],
  ] as const)('and %s, is read on when it is opened again by its %s', async (_, name, isGuardianKilled) => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const turn = turns(host.directory);
    const [ready, release] = turn.paths;
    const opened = name === 'tty' ? '/dev/tty' : '"$path"';
    const script = [
      'path=$(tty); echo before; read go',
      `exec < /dev/null > /dev/null 2>&1; echo $$ > '${ready}'; read go < '${release}'`,
      `echo after > ${opened}; exec < ${opened}; read line; echo "got $line" > ${opened}`,
    ].join('; ');
    const session = await host.open(daemon, ['sh', '-c', script]);
    await daemon.until(() => session.transcript().includes('before'));
    if (isGuardianKilled) {
      killGuardian(session.ready.guardian);
      await daemon.event('guardianEnded', session.id);
    }
    const send = (text: string) => daemon.ask(typed(session.id, text));
    await send('go');
    await turn.ready();
    // Whoever reads EIO has read it by the time that it says what it holds.
    await daemon.ask({ do: 'list', fresh: true });
    expect(await host.report(daemon, session.id)).toMatchObject({ state: 'running', end: null });
    await turn.release();
    await daemon.until(() => session.transcript().includes('after'));
    await send('again');
    await daemon.until(() => session.transcript().includes('got again'));
    if (!isGuardianKilled) {
      expect((await daemon.event('captureEnded', session.id)).end).toMatchObject({ eof: true, complete: true });
    }
  });
});

const typed = (sessionId: string, text: string) =>
  ({ do: 'send', sessionId, bytes: base64(text), paste: 'never', enter: true }) as const;

describe('descriptors', () => {
  it('of a hundred sessions are all closed again (88)', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 10 }, () => host.run(daemon, ['true'])));
    }
    expect(mastersOf(host.child.pid!)).toEqual([]);
  });

  it('of one terminal are in no other session, so closing it hangs it up (node-pty #657)', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const first = await host.open(daemon, ['cat']);
    const second = await host.open(daemon, ['cat']);
    const third = await host.open(daemon, ['cat']);
    for (const { guardian, workload } of [first.ready, second.ready, third.ready]) {
      expect(mastersOf(guardian.pid)).toEqual([]);
      expect(mastersOf(workload.pid)).toEqual([]);
    }
    await daemon.ask({ do: 'finish', sessionId: first.id, reason: 'test', withinMs: 1 });
    await isGone(first.ready.workload.pid);
    expect(isAlive(second.ready.workload.pid)).toBe(true);
  });

  it('are not written to after their end: neither keys nor a size reach whoever has the number next (84, 85)', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const session = await host.open(daemon, ['sh', '-c', 'stty raw; exec sleep 600']);
    const pasted = daemon.ask({
      do: 'send',
      sessionId: session.id,
      bytes: base64('k'.repeat(300_000)),
      paste: 'never',
      enter: false,
    });
    const settled = pasted.then(
      () => 'written',
      (error: { code: string }) => error.code,
    );
    await daemon.until(() => true);
    await daemon.ask({ do: 'finish', sessionId: session.id, reason: 'test', withinMs: 1 });
    expect(await settled).toBe('session_ended');
    const other = await host.open(daemon, ['sh', '-c', 'stty size; exec cat'], { cols: 80, rows: 24 });
    await expect(daemon.ask({ do: 'resize', sessionId: session.id, cols: 11, rows: 7 })).rejects.toMatchObject({
      code: 'session_ended',
    });
    await expect(
      daemon.ask({ do: 'send', sessionId: session.id, bytes: base64('late'), paste: 'never', enter: true }),
    ).rejects.toMatchObject({ code: 'session_ended' });
    await daemon.ask({ do: 'send', sessionId: other.id, bytes: base64('fine'), paste: 'never', enter: true });
    const viewer = await host.viewer();
    await viewer.ask({ do: 'attach', sessionId: other.id, mode: 'every byte', readOnly: true, from: 0 });
    await viewer.shows('fine');
    // Its echo may come before the program has said a word.
    await viewer.shows('24 80');
    expect(viewer.output.toString()).toContain('24 80');
    expect(viewer.output.toString()).not.toContain('k');
  });
});

describe('input', () => {
  it('that nobody reads costs nothing, is bounded, and arrives whole once somebody does (87)', async () => {
    const host = await ptyHost({ limits: { inputMaxBytes: 1_100_000 } });
    const daemon = await host.daemon();
    const turn = turns(host.directory);
    const script = `stty raw -echo; echo $$ > ${turn.paths[0]}; read go < ${turn.paths[1]}; head -c 1000000 | sha256sum`;
    const session = await host.open(daemon, ['sh', '-c', script]);
    await turn.ready();
    const bytes = Buffer.alloc(1_000_000, 'paste ');
    const request = { do: 'send', sessionId: session.id, paste: 'never', enter: false } as const;
    const sent = daemon.ask({ ...request, bytes: bytes.toString('base64') }, 60_000);
    await expect(daemon.ask({ ...request, bytes: bytes.toString('base64') })).rejects.toMatchObject({
      code: 'input_full',
    });
    const before = { ticks: ticksOf(host.child.pid!), at: process.hrtime.bigint() };
    // The time that is measured is the property here: a second of a host that has nothing to do but to wait for a reader.
    await expect.poll(() => process.hrtime.bigint() - before.at > 1_000_000_000n, { timeout: 30_000 }).toBe(true);
    const seconds = Number(process.hrtime.bigint() - before.at) / 1e9;
    expect((ticksOf(host.child.pid!) - before.ticks) / (100 * seconds)).toBeLessThan(0.05);
    await turn.release();
    expect(await sent).toMatchObject({ bytes: 1_000_000, bracketed: false });
    await daemon.event('captureEnded', session.id);
    const expected = execFileSync('sha256sum', { input: bytes }).toString().slice(0, 64);
    expect(session.transcript().toString()).toContain(expected);
  });
});

describe('a host that may start no further process', () => {
  it('refuses the session and keeps the others: no terminal costs a thread (86, ruling 19)', async () => {
    const uid = 61_237;
    const host = await ptyHost({
      uid,
      prefix: ['setpriv', `--reuid=${uid}`, '--clear-groups', 'prlimit', '--nproc=30:30'],
    });
    const daemon = await host.daemon();
    const first = await host.open(daemon, ['cat']);
    const refusal = await opened(host, daemon, 40);
    expect(refusal).toMatchObject({ code: 'launch_failed' });
    const viewer = await host.viewer();
    await viewer.ask({ do: 'attach', sessionId: first.id, mode: 'every byte', readOnly: false, from: 0 });
    viewer.client.type(Buffer.from('still here\n'));
    await viewer.shows('still here');
    expect(host.child.exitCode).toBeNull();
  });
});

/** The first refusal among so many sessions. */
async function opened(host: TestHost, daemon: Peer, count: number): Promise<unknown> {
  for (let number = 0; number < count; number++) {
    try {
      await host.open(daemon, ['cat']);
    } catch (error) {
      return error;
    }
  }
  return undefined;
}

describe('an image that cannot be executed', () => {
  it('is no program that ended: the release says so, and so does its status (PTY-02)', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const session = await host.open(daemon, ['/nonexistent/program'], { release: false });
    expect(await daemon.ask({ do: 'release', sessionId: session.id })).toMatchObject({ execFailed: 2 });
    const { end } = await daemon.event('captureEnded', session.id);
    expect(end).toMatchObject({ eof: true, bytes: 0 });
    expect(readReceipt(session.scopeDir, 'status')).toMatchObject({ how: 'execFailed', errno: 2 });
  });
});
