/** sessions attach: somebody's terminal as a window on a session. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { exited } from '../support/terminal.ts';
import { sessions } from '../support/terminalSessions.ts';

const detach = '\x1dd';

describe('attaching', () => {
  it('shows the screen, types, detaches, and comes back to the screen as it is', async () => {
    const own = await sessions();
    const { sessionId } = await own.open('echo before; read line; echo "got <$line>"; read more; echo "and <$more>"');
    const first = own.attach(sessionId);
    await first.terminal.shows('before');
    await first.terminal.type('good morning\r');
    await first.terminal.shows('got <good morning>');
    await first.terminal.type(detach);
    expect(await exited(first.child)).toEqual({ code: 0, signal: null });
    await first.terminal.shows(`detached from ${sessionId}; back with: custody sessions attach ${sessionId}`);
    await first.terminal.isAsBefore();

    const second = own.attach(sessionId.slice(0, 6));
    await second.terminal.shows('got <good morning>');
    await second.terminal.type('again\r');
    await second.terminal.shows('and <again>');
    await second.terminal.shows(`session ${sessionId} has ended: exit 0`);
    expect(await exited(second.child)).toEqual({ code: 0, signal: null });
    await second.terminal.isAsBefore();
  });

  it('shows several viewers the same bytes, and lets none but those who may type (PTY-08)', async () => {
    const own = await sessions();
    const { sessionId, runId } = await own.open('read line; printf "%s🙂%s\\n" one two; exec cat');
    const typist = own.attach(sessionId);
    const reader = own.attach(sessionId, { args: ['--read-only'] });
    await typist.terminal.showed('detach with');
    await expect
      .poll(async () => (await own.daemon.call('sessions.show', { id: sessionId })).viewers, { timeout: 30_000 })
      .toBe(2);
    await reader.terminal.type('nobody hears this\r');
    await typist.terminal.type('go\r');
    await reader.terminal.shows('one🙂two');
    await typist.terminal.shows('one🙂two');
    await typist.terminal.type('last\r');
    await reader.terminal.until('last', () => reader.terminal.lines.filter((line) => line === 'last').length === 2);
    await typist.terminal.until('last', () => typist.terminal.lines.filter((line) => line === 'last').length === 2);
    const shown = ({ output }: { output: Buffer }) => output.subarray(output.indexOf('go\r\n'));
    expect(shown(reader.terminal)).toEqual(shown(typist.terminal));
    expect(reader.terminal.history).not.toContain('nobody hears this');
    await reader.terminal.type('\x03');
    expect(await exited(reader.child)).toMatchObject({ code: 0 });
    expect(await own.daemon.call('runs.show', { id: runId })).toMatchObject({ state: 'bound' });
  });

  it('loses no key that is typed before anything is shown, or right before leaving', async () => {
    const own = await sessions();
    const { sessionId } = await own.open('read line; echo "got <$line>"; read line; echo "and <$line>"; exec cat');
    const { terminal, child } = own.attach(sessionId);
    await terminal.type('typed blindly\r');
    await terminal.shows('got <typed blindly>');
    await terminal.type(`last words\r${detach}`);
    expect(await exited(child)).toMatchObject({ code: 0 });
    const seen = await own.json(['sessions', 'wait', sessionId, '--for', 'and <last words>', '--timeout', '30s']);
    expect(seen.ok).toBe(true);
  });

  it('brings a large paste to a program that takes its time, whole', async () => {
    const own = await sessions();
    const turn = turns(own.daemon.home.dir);
    const script = `stty raw -echo; echo $$ > '${turn.paths[0]}'; read go < '${turn.paths[1]}'; head -c 2000000 | sha256sum`;
    const { sessionId } = await own.open(script);
    const { terminal } = own.attach(sessionId);
    await turn.ready();
    await terminal.showed('detach with');
    const paste = Buffer.from('0123456789 🙂 abcde\n'.repeat(100_000)).subarray(0, 2_000_000);
    const typed = terminal.type(paste);
    await turn.release();
    await typed;
    const digest = createHash('sha256').update(paste).digest('hex');
    await terminal.until(digest, () => terminal.history.includes(digest));
  });

  it('types the detach key once when it is pressed twice, and takes another one when it is told to', async () => {
    const own = await sessions();
    const { sessionId } = await own.open('stty raw -echo; echo ready; head -c 2 | od -An -tx1; exec cat');
    const { terminal, child } = own.attach(sessionId, { args: ['--detach-key', 'ctrl-a q'] });
    await terminal.shows('ready');
    await terminal.type('\x01\x01\x1d');
    await terminal.shows('01 1d');
    await terminal.type('\x01q');
    expect(await exited(child)).toMatchObject({ code: 0 });
  });

  it.each([
    ['exit 7', 7],
    ['kill -USR1 $$', 138],
  ])('with --exit-status ends as the command did (%s)', async (script, code) => {
    const own = await sessions();
    const { sessionId } = await own.open(`read line; ${script}`);
    const { terminal, child } = own.attach(sessionId, { args: ['--exit-status'] });
    await terminal.type('go\r');
    expect(await exited(child)).toEqual({ code, signal: null });
  });
});

describe('attaching is refused', () => {
  it('to a session that has ended, with what can be done instead', async () => {
    const own = await sessions();
    const { sessionId, runId } = await own.open('echo over');
    await own.daemon.proved(runId);
    const { terminal, child } = own.attach(sessionId);
    expect(await exited(child)).toMatchObject({ code: 13 });
    await terminal.shows('session_ended');
    await terminal.shows(`custody sessions export ${sessionId}`);
  });

  it('without a terminal to show it in', async () => {
    const own = await sessions();
    const { sessionId } = await own.open('exec cat');
    const { error } = await own.json(['sessions', 'attach', sessionId]);
    expect(error).toMatchObject({
      code: 'usage',
      next: [`custody sessions tail ${sessionId} --follow`, expect.anything()],
    });
  });

  it('for ids that nothing or more than one thing begins with', async () => {
    const own = await sessions();
    const one = await own.open('exec cat');
    await own.open('exec cat');
    for (const [id, code] of [
      ['Pnothing', 3],
      ['P', 2],
    ] as const) {
      const { child } = own.attach(id);
      expect(await exited(child)).toMatchObject({ code });
    }
    expect(one.sessionId).toMatch(/^P/);
  });
});
