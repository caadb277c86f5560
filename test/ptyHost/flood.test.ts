/** Workers that write as fast as they can, and viewers that do not keep up with them or with anything else. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { HostEvent } from '../../pty/wire/messages.ts';
import { turns } from '../guardian/support/fifo.ts';
import { type Peer, ptyHost, readReceipt, storedIn } from './support/host.ts';

const floodBytes = 50 * 1024 * 1024;
/** More than any program here needs, and far less than a flood: node, the screens of one session, the queues. */
const roomBytes = 160 * 1024 * 1024;

function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const [, kilobytes] = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kilobytes) * 1024;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const eventsOf = <Name extends HostEvent['event']>(peer: Peer, name: Name) =>
  peer.events.filter((event): event is Extract<HostEvent, { event: Name }> => event.event === name);

/** A viewer that stops reading as soon as it is attached. */
async function pausedViewer(
  host: Awaited<ReturnType<typeof ptyHost>>,
  sessionId: string,
  mode: 'screen' | 'every byte',
) {
  const viewer = await host.viewer();
  await viewer.ask({ do: 'attach', sessionId, mode, readOnly: true, ...(mode === 'screen' ? {} : { from: 0 }) });
  viewer.client.pause();
  return viewer;
}

describe('a viewer that stops reading while 50 MB are written', () => {
  it('never makes the worker wait, costs nothing, and has a gap and a fresh screen when it reads again', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const turn = turns(host.directory);
    const line = 'flooding the terminal with lines of text, one after another\n';
    const lines = Math.ceil(floodBytes / line.length);
    const script = `stty -opost; echo $$ > '${turn.paths[0]}'; read go < '${turn.paths[1]}'; yes '${line.trim()}' | head -n ${lines}; printf 'the last line'; exit 6`;
    const session = await host.open(daemon, ['sh', '-c', script]);
    const other = await host.open(daemon, ['cat']);
    await turn.ready();
    const slow = await pausedViewer(host, session.id, 'screen');
    const before = memoryOf(host.child.pid!, 'VmHWM');
    await turn.release();
    // It answers while the flood is on its way: other sessions echo, and that is counted in answers, not in time.
    let echoes = 0;
    const typist = await host.viewer();
    await typist.ask({ do: 'attach', sessionId: other.id, mode: 'every byte', readOnly: false, from: 0 });
    const isOver = () => eventsOf(daemon, 'captureEnded').some(({ sessionId }) => sessionId === session.id);
    while (!isOver() && echoes < 200) {
      echoes += 1;
      await daemon.ask({
        do: 'send',
        sessionId: other.id,
        bytes: base64(`key ${echoes}`),
        paste: 'never',
        enter: true,
      });
      await typist.shows(`key ${echoes}\r\n`);
    }
    const { end } = await daemon.event('captureEnded', session.id);
    // It ended with its viewer asleep, so it never waited for it.
    const bytes = lines * line.length + 'the last line'.length;
    expect(end).toEqual({ eof: true, complete: true, reason: null, bytes });
    expect(readReceipt(session.scopeDir, 'status')).toMatchObject({ how: 'exited', code: 6 });
    expect(slow.chunks.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(4 * 1024 * 1024);
    expect(echoes).toBeGreaterThan(0);
    expect(memoryOf(host.child.pid!, 'VmHWM') - before).toBeLessThan(roomBytes);

    slow.client.resume();
    await slow.event('captureEnded', session.id);
    const gaps = eventsOf(slow, 'gap');
    expect(gaps.length).toBeGreaterThan(0);
    // One, or several where it was brought up to date on the way; either way it is told what it did not get.
    expect(gaps.reduce((sum, { from, to }) => sum + to - from, 0)).toBeGreaterThan(floodBytes / 2);
    const fresh = eventsOf(slow, 'screen').at(-1)!;
    expect(fresh.offset).toBe(bytes);
    expect(Buffer.from(fresh.repaint, 'base64').toString()).toContain('the last line');
  });

  it('has every byte in the end if it asked for every byte, from the file', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const script = 'stty -opost; yes 0123456789abcdef | head -c 20000000; exit 0';
    const session = await host.open(daemon, ['sh', '-c', script], { release: false });
    const slow = await pausedViewer(host, session.id, 'every byte');
    await daemon.ask({ do: 'release', sessionId: session.id });
    const { end } = await daemon.event('captureEnded', session.id);
    expect(end).toMatchObject({ complete: true, bytes: 20_000_000 });
    slow.client.resume();
    await slow.event('captureEnded', session.id);
    expect(slow.output.length).toBe(20_000_000);
    expect(eventsOf(slow, 'gap')).toEqual([]);
  });
});

describe('two hundred viewers', () => {
  it('see the same bytes, and those that go in the middle of their repaint are gone', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const session = await host.open(daemon, ['sh', '-c', 'stty -echo; echo first; exec cat']);
    await daemon.until(() => storedIn(session.transcriptDir).includes('first'));
    const viewers = await Promise.all(Array.from({ length: 200 }, () => host.viewer()));
    const attach = { do: 'attach', sessionId: session.id, mode: 'screen', readOnly: false } as const;
    await Promise.all(viewers.map((viewer) => viewer.ask(attach)));
    const [leaving, staying] = [viewers.slice(0, 100), viewers.slice(100)];
    for (const viewer of leaving) viewer.client.close();
    await Promise.all(staying.map((viewer) => viewer.event('screen')));
    await daemon.ask({ do: 'send', sessionId: session.id, bytes: base64('to all'), paste: 'never', enter: true });
    await Promise.all(staying.map((viewer) => viewer.shows('to all')));
    await expect.poll(async () => (await host.report(daemon, session.id)).viewers, { timeout: 60_000 }).toBe(100);
    await daemon.ask({ do: 'send', sessionId: session.id, bytes: base64('\x04'), paste: 'never', enter: false });
    await daemon.event('captureEnded', session.id);
    await Promise.all(staying.map((viewer) => viewer.event('captureEnded')));
    for (const { output } of staying) expect(output.toString()).toBe('to all\r\n');
  });

  it('or one that attaches again and again, leave nothing behind', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const session = await host.open(daemon, ['cat']);
    const viewer = await host.viewer();
    for (let round = 0; round < 50; round += 1) {
      await viewer.ask({ do: 'attach', sessionId: session.id, mode: 'every byte', readOnly: true, from: 0 });
    }
    expect((await host.report(daemon, session.id)).viewers).toBe(1);
    await daemon.ask({ do: 'send', sessionId: session.id, bytes: base64('x'), paste: 'never', enter: true });
    await viewer.shows('x\r\nx\r\n');
    expect(viewer.output.toString()).toBe('x\r\nx\r\n');
  });
});

describe('a storm', () => {
  it('of sizes reaches the program as the last of them, and piles up for nobody who sleeps', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const script =
      'trap "stty size" WINCH; echo ready; while :; do read line && [ "$line" = end ] && break; done; stty size';
    const session = await host.open(daemon, ['bash', '-c', script]);
    await daemon.until(() => storedIn(session.transcriptDir).includes('ready'));
    const slow = await pausedViewer(host, session.id, 'screen');
    const before = memoryOf(host.child.pid!, 'VmRSS');
    for (let round = 0; round < 20; round += 1) {
      const storm = Array.from({ length: 1_000 }, (_, nth) => {
        const size = { cols: 40 + ((round + nth) % 100), rows: 10 + (nth % 50) };
        return daemon.ask({ do: 'resize', sessionId: session.id, ...size });
      });
      await Promise.all(storm);
    }
    await daemon.ask({ do: 'resize', sessionId: session.id, cols: 123, rows: 45 });
    expect(await host.report(daemon, session.id)).toMatchObject({ cols: 123, rows: 45, state: 'running' });
    expect(memoryOf(host.child.pid!, 'VmRSS') - before).toBeLessThan(roomBytes);
    await daemon.ask({ do: 'send', sessionId: session.id, bytes: base64('end'), paste: 'never', enter: true });
    await daemon.event('captureEnded', session.id);
    expect(storedIn(session.transcriptDir).toString().trimEnd().split('\r\n').at(-1)).toBe('45 123');
    slow.client.resume();
    await slow.event('captureEnded');
    const last = slow.events.findLast((event) => event.event === 'resized' || event.event === 'screen');
    expect(last).toMatchObject({ cols: 123, rows: 45 });
  });

  it.each([
    ['binary noise', 'head -c 3000000 /dev/urandom'],
    ['an escape sequence without an end', "printf '\\033]0;'; yes title | tr -d '\\n' | head -c 3000000"],
    ['a control string without an end', "printf '\\033P'; yes | tr -d '\\n' | head -c 3000000"],
    [
      'nothing but escape sequences',
      'yes "$(printf \'\\033[31m\\033[999C\\033[2J\\033[?1049h\\033[6n\')" | head -c 1000000',
    ],
    [
      'numbers that no sequence has',
      'yes "$(printf \'\\033[99999999999;99999999999r\\033[9999999999@\')" | head -c 1000000',
    ],
  ])('of %s is stored as it is; a screen can be had, and others go on', async (_, noise) => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const turn = turns(host.directory);
    const script = `stty raw -echo; ${noise}; echo $$ > '${turn.paths[0]}'; read go < '${turn.paths[1]}'; printf '\\030\\033\\\\\\033cdone'`;
    const session = await host.open(daemon, ['sh', '-c', script]);
    await turn.ready();
    await daemon.ask({ do: 'screen', sessionId: session.id }, 60_000);
    const other = await host.run(daemon, ['echo', 'others']);
    expect(other.transcript().toString()).toBe('others\r\n');
    await turn.release();
    const { end } = await daemon.event('captureEnded', session.id);
    expect(end).toMatchObject({ eof: true, complete: true });
    expect(await daemon.ask({ do: 'screen', sessionId: session.id }, 60_000)).toMatchObject({
      lines: expect.arrayContaining(['done']),
    });
  });
});

describe('a viewer that is behind', () => {
  it('is told the last of many sizes, when it has caught up', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const script = 'stty -opost; yes 0123456789abcdef | head -c 8000000; exec cat';
    const session = await host.open(daemon, ['sh', '-c', script], { release: false });
    const slow = await pausedViewer(host, session.id, 'every byte');
    await daemon.ask({ do: 'release', sessionId: session.id });
    await daemon.until(() => storedIn(session.transcriptDir).length === 8_000_000);
    for (let cols = 1; cols <= 500; cols += 1)
      await daemon.ask({ do: 'resize', sessionId: session.id, cols, rows: 10 });
    slow.client.resume();
    await slow.until(() => eventsOf(slow, 'resized').some(({ cols }) => cols === 500));
    expect(eventsOf(slow, 'resized').length).toBeLessThan(5);
  });
});

describe('a peer that asks and does not wait for the answers', () => {
  it('is answered some of it before more of it is heard', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const { id: sessionId } = await host.open(daemon, ['cat']);
    const hasty = await host.viewer();
    // Of this length so that few are read at once.
    const screen = { do: 'screen', sessionId, pad: 'x'.repeat(4_000) } as const;
    let answers = 0;
    const asked = Array.from({ length: 500 }, () =>
      hasty.ask(screen).then(() => {
        answers += 1;
      }),
    );
    await hasty.ask({ do: 'list' });
    expect(answers).toBeGreaterThan(300);
    await Promise.all(asked);
  });
});

describe('a peer that asks and does not read the answers', () => {
  it('is not listened to any more, and others are', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    for (let count = 0; count < 5; count += 1) await host.open(daemon, ['cat']);
    const greedy = await host.viewer();
    greedy.client.pause();
    const before = memoryOf(host.child.pid!, 'VmRSS');
    const asked = Array.from({ length: 60_000 }, () => greedy.ask({ do: 'list' }, 600_000).catch(() => undefined));
    const { end } = await host.run(daemon, ['echo', 'served']);
    expect(end).toMatchObject({ complete: true });
    // Sixty thousand answers would be over 60 MB; what was not listened to is in the kernel and with the peer.
    expect(memoryOf(host.child.pid!, 'VmRSS') - before).toBeLessThan(60 * 1024 * 1024);
    greedy.client.resume();
    expect((await Promise.all(asked)).filter((answer) => answer === undefined)).toEqual([]);
  });
});
