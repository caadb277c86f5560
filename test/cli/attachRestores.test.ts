/** The terminal of somebody who watched is theirs again, whichever way the watching ends. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inState, isGone } from '../guardian/support/processes.ts';
import { exited, testTerminal } from '../support/terminal.ts';
import { type Sessions, sessions } from '../support/terminalSessions.ts';

const switches =
  '\\033[?1049h\\033[?1000h\\033[?1006h\\033[?2004h\\033[?1004h\\033[?25l\\033[?1h\\033=\\033[>1u\\033[2;5r';
/** Switches on what a full-screen program does, and leaves it on. */
const fullScreen = `printf '${switches}painted\\n'; read line; echo still there; exec cat`;

const hostOf = ({ daemon }: Sessions): number =>
  JSON.parse(readFileSync(join(daemon.home.stateDir, 'run', 'pty-host.json'), 'utf8')).pid;

it('is given back after signals and detaching, with the screen of before', async () => {
  const own = await sessions();
  const { sessionId } = await own.open(fullScreen);
  for (const [leave, code] of [
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGQUIT', 131],
    ['detach', 0],
  ] as const) {
    const { terminal, child } = own.attach(sessionId);
    await terminal.shows('painted');
    expect(terminal.traces).toContain('alternate screen');
    expect(terminal.traces).toContain('raw');
    if (leave === 'detach') await terminal.type('\x1dd');
    else child.kill(leave);
    expect(await exited(child)).toEqual({ code, signal: null });
    await terminal.isAsBefore();
    expect(terminal.lines.join('')).not.toContain('painted');
  }
});

it('is given back when the session ends in the middle of everything, and when its holder is killed (PTY-10)', async () => {
  const own = await sessions();
  const ending = await own.open(`printf '${switches}painted\\n'; read line; exit 3`);
  const first = own.attach(ending.sessionId);
  await first.terminal.shows('painted');
  await first.terminal.type('go\r');
  expect(await exited(first.child)).toEqual({ code: 0, signal: null });
  await first.terminal.shows(`session ${ending.sessionId} has ended: exit 3`);
  await first.terminal.isAsBefore();

  const { sessionId } = await own.open(fullScreen);
  const second = own.attach(sessionId);
  await second.terminal.shows('painted');
  const host = hostOf(own);
  process.kill(host, 'SIGKILL');
  await isGone(host);
  expect(await exited(second.child)).toEqual({ code: 10, signal: null });
  await second.terminal.shows('pty_host_gone');
  await second.terminal.isAsBefore();
});

it.each([
  ['its own size', { cols: 80, rows: 24 }],
  ['another size', { cols: 60, rows: 20 }],
])('is given back when somebody stops it, and taken again when it goes on: %s', async (_, size) => {
  const own = await sessions();
  const { sessionId } = await own.open(fullScreen);
  const { terminal, child } = own.attach(sessionId, { size });
  await terminal.shows('painted');
  for (const stop of ['SIGTSTP', 'SIGTSTP'] as const) {
    child.kill(stop);
    await inState(child.pid!, 'T');
    await terminal.until('nothing of it', () => terminal.traces.length === 0);
    expect(terminal.lines.join('')).not.toContain('painted');
    child.kill('SIGCONT');
    await terminal.shows('painted');
    await terminal.until('its modes', () => ['raw', 'mouse vt200'].every((mode) => terminal.traces.includes(mode)));
  }
  await terminal.type('go\r');
  await terminal.shows('still there');
  await terminal.type('\x1dd');
  expect(await exited(child)).toEqual({ code: 0, signal: null });
  await terminal.isAsBefore();
});

it('ends with a terminal that hangs up, also where nobody is told of it by a signal', async () => {
  const own = await sessions();
  const { sessionId } = await own.open(fullScreen);
  for (const isControlling of [true, false]) {
    const terminal = testTerminal();
    const child = own.on(terminal, ['sessions', 'attach', sessionId], { isControlling });
    await terminal.shows('painted');
    terminal.close();
    expect(await exited(child)).toEqual({ code: null, signal: 'SIGHUP' });
  }
});

it('stays a window on the session when the daemon is killed, and comes back without one', async () => {
  const own = await sessions();
  const { sessionId } = await own.open(fullScreen);
  const { terminal, child } = own.attach(sessionId);
  await terminal.shows('painted');
  await own.daemon.kill();
  await terminal.type('anybody\r');
  await terminal.shows('still there');
  await terminal.type('\x1dd');
  expect(await exited(child)).toMatchObject({ code: 0 });
  const again = own.attach(sessionId, { args: ['--no-autostart'] });
  await again.terminal.shows('still there');
  await again.terminal.type('\x1dd');
  expect(await exited(again.child)).toMatchObject({ code: 0 });
  await own.daemon.start();
});

it('holds up neither the session nor signals while it takes nothing, and then shows how it is', async () => {
  const own = await sessions();
  const { sessionId, runId } = await own.open('read line; seq 1 1000000; echo the end');
  const [stuck, late] = [own.attach(sessionId), own.attach(sessionId)];
  await stuck.terminal.showed('detach with');
  await late.terminal.showed('detach with');
  await expect
    .poll(async () => (await own.daemon.call('sessions.show', { id: sessionId })).viewers, { timeout: 30_000 })
    .toBe(2);
  stuck.terminal.stop();
  late.terminal.stop();
  const sent = Buffer.from('go').toString('base64');
  await own.daemon.call('sessions.send', { id: sessionId, bytes: sent, enter: true });
  await own.daemon.proved(runId);
  stuck.child.kill('SIGTERM');
  expect(await exited(stuck.child)).toEqual({ code: 143, signal: null });
  late.terminal.goOn();
  await late.terminal.until('the end', () => late.terminal.history.includes('the end'));
  expect(await exited(late.child)).toEqual({ code: 0, signal: null });
  // It was told to catch up instead of being kept all that it had not taken.
  expect(late.terminal.output.length).toBeLessThan(4_000_000);
  await late.terminal.isAsBefore();
});
