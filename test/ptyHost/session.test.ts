import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { isGone } from '../guardian/support/processes.ts';
import { appeared, exists } from '../guardian/support/scope.ts';
import { ptyHost, readReceipt } from './support/host.ts';

describe('a terminal session', () => {
  it('keeps every byte, ends with the marker, and the marker is no part of the output (PTY-07)', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const { end, transcript, scopeDir } = await host.run(daemon, ['printf', 'one\\ntwo\\n']);
    expect(end).toEqual({ eof: true, complete: true, reason: null, bytes: 10 });
    expect(transcript().toString()).toBe('one\r\ntwo\r\n');
    expect(readReceipt(scopeDir, 'status')).toMatchObject({ how: 'exited', code: 0 });
  });

  it('is a terminal to its workload: interactive, of its size, with nothing else open', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const script = 'stty size; stty -a | grep -o iutf8; ps -o stat= -p $$';
    const { transcript } = await host.run(daemon, ['sh', '-c', script], { cols: 91, rows: 33 });
    const [size, utf8, stat] = transcript().toString().split('\r\n');
    expect(size).toBe('33 91');
    expect(utf8).toBe('iutf8');
    expect(stat).toMatch(/s\+/);
    // The last is the directory that it reads.
    const listing = await host.run(daemon, ['ls', '/proc/self/fd']);
    expect(listing.transcript().toString().trim().split(/\s+/)).toEqual(['0', '1', '2', '3']);
  });

  it('does not run before the release, and never when the daemon goes before it (ruling 6)', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const ran = join(host.directory, 'ran');
    const session = await host.open(daemon, ['touch', ran], { release: false });
    expect(await host.report(daemon, session.id)).toMatchObject({ state: 'gated', guardian: 'living' });
    daemon.client.close();
    await isGone(session.ready.workload.pid);
    const next = await host.daemon();
    await next.until(() => true);
    await appeared(session.scopeDir, 'exit.json');
    expect(readReceipt(session.scopeDir, 'status')).toMatchObject({ how: 'notReleased' });
    expect(exists(ran)).toBe(false);
  });

  it('goes on without a daemon, and tells the next one what it missed', async () => {
    const host = await ptyHost();
    const first = await host.daemon();
    const turn = turns(host.directory);
    const script = `echo before; echo $$ > ${turn.paths[0]}; read go < ${turn.paths[1]}; echo after; exit 7`;
    const session = await host.open(first, ['sh', '-c', script]);
    await turn.ready();
    first.client.close();
    await turn.release();
    await appeared(session.scopeDir, 'exit.json');
    const second = await host.daemon();
    await expect.poll(async () => (await host.report(second, session.id)).state, { timeout: 30_000 }).toBe('ended');
    expect((await host.report(second, session.id)).end).toMatchObject({ eof: true, complete: true });
    expect(session.transcript().toString()).toBe('before\r\nafter\r\n');
    await second.ask({ do: 'forget', sessionId: session.id });
    expect(await host.report(second, session.id)).toBeUndefined();
  });

  it('takes orders of the daemon alone, and of the newest alone', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const session = await host.open(daemon, ['cat']);
    const viewer = await host.viewer();
    await expect(viewer.ask({ do: 'forget', sessionId: session.id })).rejects.toMatchObject({ code: 'not_the_daemon' });
    await expect(viewer.ask({ do: 'leave' })).rejects.toMatchObject({ code: 'not_the_daemon' });
    await host.daemon();
    await daemon.until(() => daemon.isEnded).catch(() => {});
    expect(daemon.isEnded).toBe(true);
  });

  it('says by name what is wrong with a request, and serves on', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const ask = (request: object) => daemon.ask(request as never);
    await expect(ask({ do: 'screen', sessionId: 'P9' })).rejects.toMatchObject({ code: 'session_unknown' });
    await expect(ask({ do: 'resize', sessionId: 'P9', cols: 0, rows: 1 })).rejects.toMatchObject({
      code: 'request_invalid',
    });
    await expect(ask({ do: 'dance' })).rejects.toMatchObject({ code: 'request_invalid' });
    await expect(ask({ do: 'hello', protocol: [1], role: 'client' })).rejects.toMatchObject({
      code: 'request_invalid',
    });
    const { sessions } = await daemon.ask<{ sessions: unknown[] }>({ do: 'list' });
    expect(sessions).toEqual([]);
  });

  it('leaves only when it holds nothing', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const session = await host.open(daemon, ['cat']);
    await expect(daemon.ask({ do: 'leave' })).rejects.toMatchObject({ code: 'host_busy' });
    await daemon.ask({
      do: 'send',
      sessionId: session.id,
      bytes: Buffer.from('\x04').toString('base64'),
      paste: 'never',
      enter: false,
    });
    await daemon.event('captureEnded', session.id);
    await daemon.ask({ do: 'forget', sessionId: session.id });
    await daemon.ask({ do: 'leave' });
    await daemon.until(() => daemon.isEnded).catch(() => {});
    await isGone(host.child.pid!);
  });

  it('goes by itself when it holds nothing and nobody is connected, and not before', async () => {
    const host = await ptyHost({ limits: { idleMs: 200 } });
    const daemon = await host.daemon();
    const session = await host.open(daemon, ['cat']);
    daemon.client.close();
    const next = await host.daemon();
    expect(await host.report(next, session.id)).toMatchObject({ state: 'running' });
    const end = { do: 'finish', sessionId: session.id, reason: 'test', withinMs: 1 } as const;
    await next.ask(end);
    await next.ask({ do: 'forget', sessionId: session.id });
    next.client.close();
    await isGone(host.child.pid!);
  });

  it('is private: directory 0700, files 0600, socket closed to others', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const { transcriptDir } = await host.run(daemon, ['echo', 'x']);
    expect(statSync(transcriptDir).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(transcriptDir)) expect(statSync(join(transcriptDir, name)).mode & 0o777).toBe(0o600);
    expect(statSync(host.socket).mode & 0o077).toBe(0);
  });
});

it('tells of output at once and then now and then, and each time how long ago it came (PTY-09)', async () => {
  const host = await ptyHost({ limits: { activityMs: 3_000 } });
  const daemon = await host.daemon();
  const session = await host.open(daemon, ['sh', '-c', 'stty -echo; echo ready; exec cat']);
  await daemon.until(() => session.transcript().includes('ready'));
  const told = () => daemon.events.filter((event) => event.event === 'activity');
  await daemon.until(() => told().length > 0);
  const bytes = Buffer.from('more').toString('base64');
  await daemon.ask({ do: 'send', sessionId: session.id, bytes, paste: 'never', enter: true });
  await daemon.until(() => told().length > 1);
  const [first, second] = told();
  expect(first!.quietMs).toBeLessThan(1_000);
  // It was held back for most of the three seconds: the age says when the output came.
  expect(second!.quietMs).toBeGreaterThan(1_000);
});
