/** Terminals as a page sees them: living, recorded, and at any instant of what was recorded. */
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FleetAnswer, ScreenAnswer, TerminalAnswer } from '../../../inspect/server/contract.ts';
import { opened, over, shows, typed } from '../../daemon/support/terminals.ts';
import { testDaemon } from '../../support/daemon.ts';
import { openPage } from './support/page.ts';
import { openTerminal } from './support/stream.ts';

const text = (base64: string): string => Buffer.from(base64, 'base64').toString();

describe('a living terminal', () => {
  it('begins with its screen, goes on with every byte, and ends with it', async () => {
    const daemon = await testDaemon().start();
    const { sessionId, runId } = await opened(daemon, 'echo first; read line; echo "second $line"');
    await shows(daemon, sessionId, 'first');
    const page = await openPage(daemon);
    expect(await page.get<TerminalAnswer>(`/api/terminals/${sessionId}`)).toMatchObject({
      ...{ sessionId, runId, live: true, recorded: true, cols: 80, rows: 24 },
      state: expect.arrayContaining(['capture.capturing']),
    });
    const { actors } = await page.get<FleetAnswer>('/api/fleet');
    const ofRun = actors.find(({ id }) => id === runId);
    expect(actors.find(({ id }) => id === sessionId)).toMatchObject({ kind: 'ptySession', goalId: ofRun?.goalId });
    const watching = await openTerminal(page, sessionId);
    const { message: screen } = await watching.of('screen');
    expect(screen).toMatchObject({ cols: 80, rows: 24 });
    expect(text(screen.base64)).toContain('first');
    await daemon.call('sessions.resize', { id: sessionId, cols: 100, rows: 30 });
    expect((await watching.of('resized')).message).toMatchObject({ cols: 100, rows: 30 });
    await typed(daemon, sessionId, 'line');
    await watching.until((message) => message.type === 'ended');
    const said = watching.told.flatMap(({ message }) => (message.type === 'output' ? [text(message.base64)] : []));
    expect(said.join('')).toContain('second line');
    const offsets = watching.told.flatMap(({ message }) => (message.type === 'output' ? [message.offset] : []));
    expect(offsets[0]).toBe(screen.offset);
    expect((await watching.of('ended')).message).toMatchObject({ complete: true, reason: null });
    await watching.ended;
  });
});

describe('browsers that leave before a terminal is shown', () => {
  it('take nothing from those that stay', async () => {
    const daemon = await testDaemon().start();
    const { sessionId } = await opened(daemon, 'echo first; read line');
    await shows(daemon, sessionId, 'first');
    const page = await openPage(daemon);
    const head = [
      `GET /api/terminals/${sessionId}/live HTTP/1.1`,
      `Host: 127.0.0.1:${page.port}`,
      `Authorization: Bearer ${page.token}`,
    ];
    const leave = () =>
      new Promise<void>((resolve) => {
        const socket = connect(page.port, '127.0.0.1');
        socket.on('error', () => {});
        socket.once('close', () => resolve());
        socket.write(`${head.join('\r\n')}\r\n\r\n`, () => socket.destroy());
      });
    for (let round = 0; round < 9; round += 1) await Promise.all(Array.from({ length: 8 }, leave));
    await (await openTerminal(page, sessionId)).of('screen');
    await typed(daemon, sessionId, 'line');
    await over(daemon, sessionId);
  });
});

describe('a recorded terminal', () => {
  it('is played back, and shows what could be seen at every instant', async () => {
    const daemon = await testDaemon().start();
    const script =
      "printf 'one\\r\\n'; read a; printf '\\033[2J\\033[Htwo \\033[31mred\\033[m\\r\\n'; read b; printf three";
    const { sessionId } = await opened(daemon, script);
    await shows(daemon, sessionId, 'one');
    await typed(daemon, sessionId, 'a');
    await shows(daemon, sessionId, 'two red');
    await typed(daemon, sessionId, 'b');
    await over(daemon, sessionId);
    const page = await openPage(daemon);
    const terminal = await page.get<TerminalAnswer>(`/api/terminals/${sessionId}`);
    expect(terminal).toMatchObject({ live: false, recorded: true, missing: null });
    const { status, text: cast, headers } = await page.ask(`/api/terminals/${sessionId}/recording`);
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/x-asciicast' });
    const [head, ...events] = cast
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(head).toMatchObject({ version: 2, width: 80, height: 24 });
    const output = events.filter(([, code]) => code === 'o');
    expect(output.map(([, , data]) => data).join('')).toContain('two \u001b[31mred');
    expect(output.at(-1)[0] * 1_000).toBeLessThanOrEqual(terminal.durationMs!);
    const at = (query: string) => page.get<ScreenAnswer>(`/api/terminals/${sessionId}/screen?${query}`);
    const end = await at(`offset=${terminal.bytes}`);
    expect(end).toMatchObject({ offset: terminal.bytes, cols: 80, rows: 24 });
    expect(end.lines.join('\n')).toContain('three');
    expect(end.lines.join('\n')).not.toContain('one');
    const first = await at('offset=3');
    expect(first).toMatchObject({ offset: 3, cursor: { x: 3, y: 0 } });
    expect(first.lines[0]).toBe('one');
    expect((await at('offset=2')).lines[0]).toBe('on');
    expect((await at('offset=0')).lines.every((line) => line === '')).toBe(true);
    const red = output.find(([, , data]) => data.includes('red'));
    const then = await at(`timeMs=${Math.ceil(red[0] * 1_000)}`);
    expect(then.lines[0]).toBe('two red');
    expect(text(then.base64!)).toContain('red');
    expect((await at('timeMs=0')).lines[0]).toBe('');
    for (const id of [`../transcripts/${sessionId}`, `./${sessionId}`, `${sessionId}/.`])
      for (const rest of ['recording', 'screen?offset=0'])
        expect((await page.ask(`/api/terminals/${encodeURIComponent(id)}/${rest}`)).status, id).toBe(404);
  });

  it('does not end like a whole one where bytes vanish while it is read', async () => {
    const daemon = await testDaemon().start();
    const { sessionId } = await opened(daemon, 'yes "words of a line that somebody has written" | head -c 40000000');
    await over(daemon, sessionId);
    const page = await openPage(daemon);
    const request = get({
      ...{ host: '127.0.0.1', port: page.port, path: `/api/terminals/${sessionId}/recording` },
      headers: { authorization: `Bearer ${page.token}` },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response, 'readable');
    // No browser takes more than the sockets hold; the rest is still on the disk, and goes.
    const dir = join(daemon.home.stateDir, 'transcripts', sessionId);
    for (const name of readdirSync(dir)) if (name.startsWith('raw.')) rmSync(join(dir, name));
    response.resume();
    const failed = await once(response, 'error').then(([error]) => (error as NodeJS.ErrnoException).code);
    expect(failed).toBe('ECONNRESET');
    expect(response.complete).toBe(false);
  });

  it('is not there where nothing was recorded, and does not show another file', async () => {
    const daemon = await testDaemon().start();
    const { sessionId } = await opened(daemon, 'echo private', { terminal: { recorded: false } });
    await over(daemon, sessionId);
    const page = await openPage(daemon);
    expect(await page.get<TerminalAnswer>(`/api/terminals/${sessionId}`)).toMatchObject({
      recorded: false,
      durationMs: null,
    });
    for (const rest of ['recording', 'screen?offset=0', 'live'])
      expect((await page.ask(`/api/terminals/${sessionId}/${rest}`)).status).toBe(404);
    for (const id of ['..', '%2e%2e', '..%2fscopes', encodeURIComponent(`../transcripts/${sessionId}`)])
      for (const rest of ['recording', 'screen?offset=0'])
        expect((await page.ask(`/api/terminals/${id}/${rest}`)).status, id).toBe(404);
  });
});
