/** A session has the size that its owner chose, however large the windows of its viewers are. */
import { expect, it } from 'vitest';
import { exited } from '../support/terminal.ts';
import { sessions } from '../support/terminalSessions.ts';

/** A read that a signal interrupts has failed, which is not the end. */
const sizeTold = 'trap "stty size" WINCH; stty size; while :; do read line || :; done';

it('leaves the size alone and says how it differs', async () => {
  const own = await sessions();
  const { sessionId } = await own.open(sizeTold, { cols: 120, rows: 40 });
  const { terminal, child } = own.attach(sessionId);
  await terminal.showed('session is 120x40, this terminal 80x24');
  await terminal.until('the screen', () => terminal.output.includes('40 120'));
  terminal.resize({ cols: 90, rows: 30 });
  await terminal.type('\x1dd');
  expect(await exited(child)).toMatchObject({ code: 0 });
  expect(await own.daemon.call('sessions.show', { id: sessionId })).toMatchObject({ cols: 120, rows: 40 });
});

it('with --resize has the size of the window, now and when it changes, with a daemon and without', async () => {
  const own = await sessions();
  const { sessionId } = await own.open(sizeTold, { cols: 120, rows: 40 });
  const { terminal, child } = own.attach(sessionId, { args: ['--resize'] });
  await terminal.shows('24 80');
  terminal.resize({ cols: 90, rows: 30 });
  await terminal.shows('30 90');
  expect((await own.daemon.events({ actor: sessionId, type: 'session.resized' })).length).toBeGreaterThanOrEqual(2);
  await own.daemon.kill();
  terminal.resize({ cols: 70, rows: 20 });
  await terminal.shows('20 70');
  await terminal.type('\x1dd');
  expect(await exited(child)).toMatchObject({ code: 0 });
});

it('shows a smaller session within its own rows of a larger window', async () => {
  const own = await sessions();
  const { sessionId } = await own.open('stty -echo; read line; seq 1 100; printf "\\033[3;5Hhere"; exec cat', {
    cols: 40,
    rows: 10,
  });
  await own.custody(['sessions', 'send', sessionId, '--enter']);
  await own.custody(['sessions', 'wait', sessionId, '--for', 'here', '--timeout', '30s']);
  const { terminal, child } = own.attach(sessionId, { size: { cols: 60, rows: 20 } });
  await terminal.shows('here');
  expect(terminal.lines.findIndex((line) => line.includes('here'))).toBe(2);
  await terminal.type('\x1dd');
  expect(await exited(child)).toMatchObject({ code: 0 });
  await terminal.isAsBefore();
});

it('has the keys of a window reported as the program wants them, and no longer than that', async () => {
  const own = await sessions();
  const script = 'stty -echo; printf "\\033[>1u\\033[>4;2mthere"; read line; printf "\\033[<u\\033[>4m gone"; exec cat';
  const { sessionId } = await own.open(script, { cols: 40, rows: 10 });
  const { terminal, child } = own.attach(sessionId);
  await terminal.until('keys of its own', () => terminal.output.includes('\x1b[=1;1u\x1b[>4;2m'));
  await terminal.type('\r');
  await terminal.shows('gone');
  await terminal.until('keys as usual', () => terminal.output.includes('\x1b[=0;1u\x1b[>4;0m'));
  await terminal.type('\x1dd');
  expect(await exited(child)).toMatchObject({ code: 0 });
});

it('has them reported so for whoever comes later', async () => {
  const own = await sessions();
  const { sessionId } = await own.open('printf "\\033[>5u\\033[?1049h\\033[>1u\\033[>4;2mthere"; exec cat');
  await own.custody(['sessions', 'wait', sessionId, '--for', 'there']);
  const { terminal, child } = own.attach(sessionId);
  const painted = () => terminal.output.toString('latin1').replaceAll('\x1b', 'ESC ');
  const whole = /ESC \[>5u.*ESC \[\?1047h.*ESC \[>1u.*ESC \[>4;2m/s;
  await terminal.until('the keys of both screens', () => whole.test(painted()));
  await terminal.shows('there');
  await terminal.type('\x1dd');
  expect(await exited(child)).toMatchObject({ code: 0 });
});
