/** A window of another size shows the part of the session's screen where the cursor is, whatever happens in it. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { noise, type Random, randomOf } from '../screen/support/noise.ts';
import { exited } from '../support/terminal.ts';
import { type Sessions, sessions } from '../support/terminalSessions.ts';
import { quiet, resizeSession, seesAll } from './support/windows.ts';

const detach = '\x1dd';
const session = { cols: 80, rows: 24 };

describe('a window of another size', () => {
  const sizes = [
    { cols: 50, rows: 14 },
    { cols: 120, rows: 40 },
    { cols: 50, rows: 40 },
    { cols: 120, rows: 14 },
    { cols: 50, rows: 24 },
    { cols: 80, rows: 40 },
    { cols: 9, rows: 2 },
  ];

  it('shows long lines, colours, wide characters at every edge and the cursor, in any size', async () => {
    const own = await sessions();
    const wide = 'w'.repeat(49) + '\u4f60\u597d'.repeat(40);
    const colours = '\\033[1;31;48;5;17mred\\033[38;2;1;2;3m true\\033[4:3m curly\\033[m \\033[7minverse\\033[m';
    const script = `stty -echo; seq 1 30; printf '${wide}\\n${wide.slice(1)}\\n${colours} \\033[44m\\033[K\\033[m\\r\\n${'long '.repeat(30)}|'; cat`;
    const { sessionId } = await own.open(script, session);
    await quiet(own, sessionId);
    for (const size of sizes) {
      const { terminal, child } = own.attach(sessionId, { size });
      await seesAll(own, sessionId, terminal);
      await terminal.type(detach);
      expect(await exited(child)).toMatchObject({ code: 0 });
      await terminal.until('detached', () => terminal.history.includes('detached'));
      await terminal.isAsBefore();
    }
  });

  it('follows the cursor while somebody types, and says what it is', async () => {
    const own = await sessions();
    const { sessionId } = await own.open('cat', session);
    const { terminal } = own.attach(sessionId, { size: { cols: 60, rows: 12 } });
    await terminal.shows(`${sessionId}  80x24 in 60x12  detach with ctrl-] d`);
    for (let length = 0; length < 200; length += 25) {
      await terminal.type('0123456789abcdefghijklmno');
      await seesAll(own, sessionId, terminal);
    }
    await terminal.type(`\r${'\r'.repeat(30)}`);
    await seesAll(own, sessionId, terminal);
  });

  it('shows programs of the whole screen, which hear the keys as they want them', async () => {
    const own = await sessions();
    const file = own.file('text');
    writeFileSync(
      file,
      Array.from({ length: 300 }, (_, line) => `${line} ${'text \u4f60 '.repeat(line % 20)}`).join('\n'),
    );
    for (const command of [`vim -u NONE -N -c 'set number ruler' '${file}'`, `less '${file}'`]) {
      const { sessionId } = await own.open(`LC_ALL=C.UTF-8 exec ${command}`, session);
      const { terminal, child } = own.attach(sessionId, { size: { cols: 44, rows: 15 } });
      await terminal.until('the alternate screen', () => terminal.traces.includes('application cursor keys'));
      for (const keys of ['G', '\x1bOA\x1bOA', 'gg', '/299\r', '\x1b[6~']) {
        await terminal.type(keys);
        await seesAll(own, sessionId, terminal);
      }
      await terminal.type(detach);
      expect(await exited(child)).toMatchObject({ code: 0 });
      await terminal.shows('detached');
      await terminal.isAsBefore();
    }
  });

  it('paints a flood now and then, and its end always', async () => {
    const own = await sessions();
    const { sessionId } = await own.open('read line; seq 1 500000; printf "the end"; cat', session);
    const { terminal } = own.attach(sessionId, { size: { cols: 40, rows: 12 } });
    await terminal.shows('detach with ctrl-] d');
    await terminal.type('go\r');
    await terminal.shows('the end');
    await seesAll(own, sessionId, terminal);
    // What was painted, not what was said.
    expect(terminal.output.length).toBeLessThan(1_000_000);
  });

  it('takes nothing while it is stopped, and shows how things are when it goes on', async () => {
    const own = await sessions();
    const much =
      'read line; i=0; while [ $i -lt 50 ]; do i=$((i+1)); head -c 9000 /dev/urandom | base64 -w 180; sleep 0.04; done; printf "the end"; exec cat';
    const { sessionId } = await own.open(much, { cols: 200, rows: 60 });
    const { terminal, child } = own.attach(sessionId, { size: { cols: 190, rows: 50 } });
    await terminal.shows('detach with ctrl-] d');
    const before = terminal.output.length;
    terminal.stop();
    await own.custody(['sessions', 'send', sessionId, '--enter']);
    await own.custody(['sessions', 'wait', sessionId, '--for', 'the end', '--timeout', '60s']);
    terminal.goOn();
    await seesAll(own, sessionId, terminal);
    // A few screens, not one for each thirtieth of a second.
    expect(terminal.output.length - before).toBeLessThan(100_000);
    child.kill('SIGTERM');
    expect(await exited(child)).toEqual({ code: 143, signal: null });
    await terminal.until('the screen of before', () => !terminal.traces.includes('alternate screen'));
    await terminal.isAsBefore();
  });
});

describe('sizes that change', () => {
  it('are followed on either side, with output in between, from one way of showing to the other', async () => {
    const own = await sessions();
    const script =
      'trap "stty size" WINCH; while read -r line || true; do i=0; while [ $i -lt 40 ]; do i=$((i+1)); printf "%s %0*d\\n" "$line" $((i * 3)) $i; done; done';
    const { sessionId } = await own.open(script, session);
    const { terminal, child } = own.attach(sessionId, { size: session });
    const steps = [
      ['viewer', { cols: 60, rows: 20 }],
      ['viewer', { cols: 60, rows: 10 }],
      ['viewer', { cols: 100, rows: 30 }],
      ['session', { cols: 100, rows: 30 }],
      ['session', { cols: 90, rows: 40 }],
      ['viewer', { cols: 90, rows: 40 }],
      ['viewer', { cols: 30, rows: 10 }],
      ['session', { cols: 50, rows: 9 }],
      ['session', { cols: 30, rows: 10 }],
      ['session', { cols: 80, rows: 24 }],
      ['viewer', { cols: 80, rows: 24 }],
    ] as const;
    for (const [side, size] of steps) {
      await terminal.type('x\r');
      if (side === 'viewer') terminal.resize(size);
      else await resizeSession(own, sessionId, size);
      await terminal.type('y\r');
      await seesAll(own, sessionId, terminal);
    }
    await terminal.type(detach);
    expect(await exited(child)).toMatchObject({ code: 0 });
    await terminal.shows('detached');
    await terminal.isAsBefore();
  });

  it('leave nothing on the way that was meant for another size', async () => {
    const own = await sessions();
    const script = 'trap \'size=$(stty size)\' WINCH; size=$(stty size); read go; while :; do echo "$size"; done';
    const { sessionId } = await own.open(script, session);
    const { terminal, child } = own.attach(sessionId, { size: session });
    await terminal.until('the session', () => terminal.traces.includes('raw'));
    await terminal.type('\r');
    await terminal.shows('24 80');
    await resizeSession(own, sessionId, { cols: 100, rows: 30 });
    await terminal.until('the window', () => terminal.traces.includes('alternate screen'));
    await terminal.shows('30 100');
    expect(terminal.history).not.toContain('30 100');
    child.kill('SIGTERM');
    expect(await exited(child)).toMatchObject({ code: 143 });
  });

  it.each([1, 2, 3])(
    'leave the right picture, in whatever order they come while a program writes anything (%i)',
    async (seed) => {
      const own = await sessions();
      const random = randomOf(seed);
      const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
      const { sessionId } = await own.open(noisy(own, random, 40), session);
      const { terminal, child } = own.attach(sessionId, { size: session });
      await terminal.until('the session', () => terminal.traces.includes('raw'));
      await terminal.type('\n');
      const all = [session, { cols: 60, rows: 20 }, { cols: 100, rows: 24 }, { cols: 33, rows: 40 }];
      for (let step = 0; step < 40; step += 1) {
        if (random() < 0.5) terminal.resize(one(all));
        else await resizeSession(own, sessionId, one(all));
      }
      await quiet(own, sessionId, 600);
      await seesAll(own, sessionId, terminal);
      await terminal.type(detach);
      expect(await exited(child)).toMatchObject({ code: 0 });
      await terminal.until('detached', () => terminal.history.includes('detached'));
      await terminal.isAsBefore();
    },
  );
});

/** Writes some of it now and then, once it has read a line; the cursor is there in the end. */
function noisy(own: Sessions, random: Random, pieces: number): string {
  for (let piece = 0; piece < pieces; piece += 1) writeFileSync(own.file(`noise${piece}`), noise(random, 60));
  const more = `i=$((i+1)); sleep 0.05`;
  return `stty raw -echo; read line; i=0; while [ $i -lt ${pieces} ]; do cat '${own.file('noise')}'$i; ${more}; done; printf '\\033[?25h'; cat`;
}

describe('whatever a program says', () => {
  it.each([1, 2, 3, 4, 5, 6])('is seen as the session has it (%i)', async (seed) => {
    const own = await sessions();
    const random = randomOf(seed);
    const below = (limit: number) => Math.floor(random() * limit);
    const size = { cols: 20 + below(60), rows: 8 + below(20) };
    const { sessionId } = await own.open(noisy(own, random, 12), size);
    const viewers = Array.from({ length: 3 }, () => {
      const window = { cols: 10 + below(90), rows: 3 + below(30) };
      return own.attach(sessionId, { size: window, args: ['--read-only'] });
    });
    for (const { terminal } of viewers) await terminal.until('the window', () => terminal.traces.length > 1);
    const sent = Buffer.from('\n').toString('base64');
    await own.daemon.call('sessions.send', { id: sessionId, bytes: sent });
    await quiet(own, sessionId, 600);
    for (const { terminal, child } of viewers) {
      await seesAll(own, sessionId, terminal);
      await terminal.type('\x03');
      expect(await exited(child)).toMatchObject({ code: 0 });
      await terminal.until('detached', () => terminal.history.includes('detached'));
      await terminal.isAsBefore();
    }
  });
});
