/** What is sent to a terminal is typed once and journaled once, whoever dies in between (STOP-08, PTY-08). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, killAt } from '../support/daemonFailpoints.ts';
import { patienceMs } from '../support/patience.ts';
import { opened, over, shows } from './support/terminals.ts';

const quick = { env: { CUSTODY_GRACE_MS: '0' } };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Writes down every line that it reads, until `until`. */
const reader = (file: string, until = 'end') =>
  `stty -echo; echo ready; while read line; do echo "$line" >> '${file}'; [ "$line" = ${until} ] && exit 0; done`;

async function withReader(until?: string) {
  const daemon = await testDaemon(quick).start(failingDaemonCommand());
  const file = join(daemon.home.dir, 'lines');
  const session = await opened(daemon, reader(file, until));
  await shows(daemon, session.sessionId, 'ready');
  const lines = () => readFileSync(file, 'utf8').trim().split('\n');
  return { daemon, lines, ...session };
}

const send = (id: string, text: string, requestId: string) => ({ id, bytes: base64(text), enter: true, requestId });

const journaled = (daemon: TestDaemon, actor: string) => daemon.events({ actor, type: 'session.inputSent' });

it('typed and not committed when the daemon is killed: a repetition types nothing, and it is journaled once', async () => {
  const { daemon, sessionId, lines } = await withReader();
  await killAt(daemon, { at: 'after_journal_insert', of: 'session.inputSent' });
  const request = send(sessionId, 'once', 'the-same');
  await expect(daemon.call('sessions.send', request)).rejects.toThrow();
  await daemon.process.exited;
  await daemon.start();
  expect(await daemon.call('sessions.send', request)).toMatchObject({ sessionId });
  await daemon.call('sessions.send', send(sessionId, 'end', 'the-last'));
  await over(daemon, sessionId);
  expect(lines()).toEqual(['once', 'end']);
  expect(await journaled(daemon, sessionId)).toHaveLength(2);
});

it('typed to an agent that ends before the commit: the next daemon journals it without being asked', async () => {
  const { daemon, sessionId } = await withReader('bye');
  await killAt(daemon, { at: 'after_journal_insert', of: 'session.inputSent' });
  await expect(daemon.call('sessions.send', send(sessionId, 'bye', 'the-last'))).rejects.toThrow();
  await daemon.process.exited;
  await daemon.start();
  expect(await over(daemon, sessionId)).toMatchObject({ workload: 'final', result: { code: 0 } });
  await expect.poll(() => journaled(daemon, sessionId), { timeout: patienceMs }).toHaveLength(1);
  const [event] = await journaled(daemon, sessionId);
  expect(event).toMatchObject({ payload: { bytes: 4, actor: 'operator' } });
});

it('typed to an agent that is being ended: it is journaled all the same', async () => {
  const daemon = await testDaemon().start();
  const file = join(daemon.home.dir, 'lines');
  const { runId, sessionId } = await opened(daemon, `trap '' TERM; ${reader(file)}`);
  await shows(daemon, sessionId, 'ready');
  const stopping = daemon.call('runs.stop', { id: runId, graceMs: 60_000 });
  await daemon.event({ actor: sessionId, type: 'stop.requested' });
  expect(await daemon.call('sessions.show', { id: sessionId })).toMatchObject({ workload: 'ending' });
  await daemon.call('sessions.send', send(sessionId, 'end', 'the-last'));
  expect(await journaled(daemon, sessionId)).toHaveLength(1);
  await over(daemon, sessionId);
  await stopping;
  expect(readFileSync(file, 'utf8')).toBe('end\n');
});

it('typed under an id that was used for another input: refused, by this daemon and the next', async () => {
  const { daemon, sessionId, lines } = await withReader();
  const first = send(sessionId, 'once', 'the-same');
  await daemon.call('sessions.send', first);
  for (let daemons = 0; daemons < 2; daemons += 1) {
    expect(await daemon.refusal('sessions.send', send(sessionId, 'twice', 'the-same'))).toMatchObject({
      code: 'event_id_conflict',
      exitCode: 11,
    });
    expect(await daemon.call('sessions.send', first)).toMatchObject({ bytes: 5 });
    await daemon.restart();
  }
  await daemon.call('sessions.send', send(sessionId, 'end', 'the-last'));
  await over(daemon, sessionId);
  expect(lines()).toEqual(['once', 'end']);
});
