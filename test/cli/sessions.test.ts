/** The verbs that look at sessions, wait for them, and end them. */
import { expect, it } from 'vitest';
import { exited, testTerminal } from '../support/terminal.ts';
import { sessions } from '../support/terminalSessions.ts';

it('lists, shows, waits, resizes and stops; lists hold no byte of what was said (PRIV-02)', async () => {
  const own = await sessions();
  const { sessionId, runId, goalId } = await own.open('echo canary-output; stty -echo; exec cat');
  const wait = (...words: string[]) => own.json(['sessions', 'wait', sessionId, ...words, '--timeout', '30s']);
  expect(await wait('--for', 'canary-output')).toMatchObject({ ok: true, data: { sessionId } });
  expect(await wait('--regex', 'canary-\\w+')).toMatchObject({ ok: true });
  expect((await own.custody(['sessions', 'wait', sessionId, '--quiet', '50ms', '-q'])).stdout).toBe(`${sessionId}\n`);
  expect((await wait('--regex', '(')).error).toMatchObject({
    code: 'pattern_invalid',
    message: expect.stringMatching(/^Invalid regular expression/),
    next: ['custody sessions wait --help'],
  });
  expect(await wait('--quiet', '50ms')).toMatchObject({ ok: true });
  const list = await own.custody(['sessions', 'list', '--goal', goalId, '--json']);
  expect(JSON.parse(list.stdout).data.sessions).toMatchObject([{ sessionId, runId, capture: 'capturing', cols: 80 }]);
  const show = await own.custody(['sessions', 'show', sessionId.slice(0, 5)]);
  expect(show.stdout).toMatch(/work +working/);
  expect(list.stdout + show.stdout).not.toContain('canary');

  expect((await own.custody(['__complete', 'sessions'])).stdout).toContain(`${sessionId}\t`);

  const late = await own.json(['sessions', 'wait', sessionId, '--for', 'never said', '--timeout', '100ms']);
  expect(late.error).toMatchObject({ code: 'wait_timed_out' });
  expect((await own.custody(['sessions', 'wait', sessionId, '--exit', '--timeout', '100ms'])).code).toBe(14);
  expect((await own.json(['sessions', 'wait', sessionId, '--exit', '--quiet', '1s'])).error).toMatchObject({
    code: 'usage',
  });

  expect((await own.json(['sessions', 'resize', sessionId, '100x30'])).data).toEqual({
    sessionId,
    cols: 100,
    rows: 30,
  });
  expect((await own.json(['sessions', 'resize', sessionId, '100'])).error).toMatchObject({ code: 'usage' });

  const ambiguous = await own.open('exec cat');
  for (const words of [['screen'], ['tail'], ['show'], ['export']]) {
    const { stderr, code } = await own.custody(['sessions', ...words, 'P']);
    expect({ code, stderr }, words.join(' ')).toEqual({
      code: 2,
      stderr: expect.stringContaining('type more of it, such as P'),
    });
  }
  const { stdout } = await own.custody(['sessions', 'stop', ambiguous.sessionId, '--grace', '100ms', '--wait', '30s']);
  expect(stdout).toMatch(new RegExp(`^${ambiguous.sessionId} proved \\(\\w[^)]*\\) after`));
  expect((await own.custody(['sessions', 'show', ambiguous.sessionId])).stdout).toMatch(/ended by +stop\n/);
  const stopped = await own.json(['sessions', 'stop', sessionId, '--grace', '100ms', '--wait', '30s']);
  expect(stopped).toMatchObject({
    command: 'sessions.stop',
    data: { sessionId, runId, assessment: { state: 'exited' } },
  });
  expect(await wait('--exit')).toMatchObject({ data: { workload: 'final', scope: 'proved' } });
  expect((await own.json(['sessions', 'list'])).data.sessions).toEqual([]);
  const { runs } = (await own.json(['runs', 'list'])).data;
  expect(runs.map((run: { runId: string; sessionId: string }) => [run.runId, run.sessionId]).sort()).toEqual(
    [
      [runId, sessionId],
      [ambiguous.runId, ambiguous.sessionId],
    ].sort(),
  );
  expect((await own.json(['sessions', 'list', '--all'])).data.sessions).toContainEqual(
    expect.objectContaining({ sessionId }),
  );
  const after = await own.json(['sessions', 'send', sessionId, 'anybody?']);
  expect(after.error).toMatchObject({ code: 'session_ended' });
});

it('shows the screen as text, of a session that lives and of one that is over', async () => {
  const own = await sessions();
  const { sessionId, runId } = await own.open("printf 'one\\033[5;3Hfive'; read line; printf ' more'");
  await own.custody(['sessions', 'wait', sessionId, '--for', 'five', '--timeout', '30s']);
  const living = await own.json(['sessions', 'screen', sessionId]);
  expect(living.data).toMatchObject({ sessionId, cols: 80, rows: 24, cursor: { x: 6, y: 4, visible: true } });
  expect(living.data.lines.slice(0, 5)).toEqual(['one', '', '', '', '  five']);
  await own.custody(['sessions', 'send', sessionId, '--enter']);
  await own.daemon.proved(runId);
  const over = await own.custody(['sessions', 'screen', sessionId, '--cursor']);
  expect(over.stdout).toBe('one\n\n\n\n  five\n more\ncursor: row 6, column 6\n');
});

it('tails the last lines and what follows, byte for byte', async () => {
  const own = await sessions();
  const { sessionId, runId } = await own.open(
    "seq 1 50; stty -echo; read line; printf 'last \\360\\237\\231\\202\\377\\n'",
  );
  await own.custody(['sessions', 'wait', sessionId, '--for', '50', '--timeout', '30s']);
  const now = await own.custody(['sessions', 'tail', sessionId, '-n', '2']);
  expect(now.stdout).toBe('49\r\n50\r\n');
  const following = own.custody(['sessions', 'tail', sessionId, '-n', '1', '-f', '--json']);
  await expect
    .poll(async () => (await own.daemon.call('sessions.show', { id: sessionId })).viewers, { timeout: 30_000 })
    .toBe(1);
  await own.custody(['sessions', 'send', sessionId, '--enter']);
  const lines = (await following).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const bytes = Buffer.concat(lines.flatMap(({ data }) => (data ? [Buffer.from(data, 'base64')] : [])));
  expect(bytes).toEqual(Buffer.from('50\r\nlast \xf0\x9f\x99\x82\xff\r\n', 'latin1'));
  expect(lines.at(-1)).toMatchObject({ end: { eof: true, complete: true } });
  await own.daemon.proved(runId);
  const over = await own.custody(['sessions', 'tail', sessionId, '-n', '3', '-f']);
  expect(over.stdout).toMatch(/^49\r\n50\r\nlast/);
});

it('leaves a terminal as it was after a tail of a program that did not', async () => {
  const own = await sessions();
  const { sessionId, runId } = await own.open("printf '\\033[?1049h\\033[?25l\\033[?2004hpainted\\n'");
  await own.daemon.proved(runId);
  const terminal = testTerminal();
  const child = own.on(terminal, ['sessions', 'tail', sessionId]);
  expect(await exited(child)).toMatchObject({ code: 0 });
  await terminal.until('painted', () => terminal.output.includes('painted'));
  await terminal.until('as it was', () => terminal.traces.length === 0);
});
