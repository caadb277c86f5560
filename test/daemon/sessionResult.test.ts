/** The result of a session, for whoever asked for the work: what was given, or by name why there is none. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { operatorKey, sessionToken } from '../../actors/runtime/credentials.ts';
import { turns } from '../guardian/support/fifo.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { opened, over } from './support/terminals.ts';

const resultSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
/** As somebody may write it; what counts is every byte. */
const given = '{ "n": 1.0,\n  "text": "\u009b31m" }\n';

/** An agent that ends when it is let go and not before, unless it is made to. */
async function agent(daemon: TestDaemon, script = "trap '' TERM HUP") {
  const turn = turns(daemon.home.dir);
  const waiting = `${script}; echo $$ > ${turn.paths[0]}; read go < ${turn.paths[1]}`;
  const open = await opened(daemon, waiting, { terminal: { resultSchema } });
  await turn.ready();
  const { sessionId } = open;
  const session = { sessionId, token: sessionToken(operatorKey(daemon.home), sessionId) };
  return { ...open, turn, session };
}

const patient = { env: { CUSTODY_GRACE_MS: '60000' } };

it('is refused until it was reported, and pending until the status of its agent is known', async () => {
  const daemon = await testDaemon(patient).start();
  const { sessionId: id, session, turn } = await agent(daemon);
  expect(await daemon.refusal('sessions.result', { id })).toMatchObject({
    code: 'result_missing',
    exitCode: 13,
    next: [`custody sessions wait ${id} --exit`, expect.anything()],
  });
  const { digest } = await daemon.call('agent.result', { session, result: given });
  expect(await daemon.refusal('sessions.result', { id })).toMatchObject({ code: 'result_pending', exitCode: 13 });
  await turn.release();
  await over(daemon, id);
  expect(await daemon.call('sessions.result', { id })).toEqual({ sessionId: id, digest, text: given });
});

it('is never shown when it did not fit, or when there was none', async () => {
  const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '0' } }).start();
  const { sessionId: id, session } = await agent(daemon);
  await daemon.refusal('agent.result', { session, result: '{"left":1}' });
  await over(daemon, id);
  expect(await daemon.refusal('sessions.result', { id })).toMatchObject({
    code: 'result_invalid',
    exitCode: 13,
    message: expect.stringMatching(/does not count: .*'n'/),
    details: { firstFailure: { cause: 'result', reason: 'schema_invalid' } },
  });
  const silent = await opened(daemon, 'exit 0');
  await over(daemon, silent.sessionId);
  expect(await daemon.refusal('sessions.result', { id: silent.sessionId })).toMatchObject({
    code: 'result_missing',
    message: expect.stringContaining('ended without'),
    next: [`custody sessions show ${silent.sessionId}`],
  });
  const stopped = await opened(daemon, 'exec cat');
  await daemon.call('runs.stop', { id: stopped.runId });
  await over(daemon, stopped.sessionId);
  expect(await daemon.refusal('sessions.result', { id: stopped.sessionId })).toMatchObject({
    code: 'result_missing',
    details: { firstFailure: { cause: 'stop' } },
  });
});

it('is not what somebody has put in its place', async () => {
  const daemon = await testDaemon(patient).start();
  const { sessionId: id, session, turn } = await agent(daemon);
  const { digest } = await daemon.call('agent.result', { session, result: given });
  await turn.release();
  await over(daemon, id);
  writeFileSync(join(daemon.home.stateDir, 'results', `${id}.${digest}.json`), '{"n":2}');
  expect(await daemon.refusal('sessions.result', { id })).toMatchObject({ code: 'result_unreadable', exitCode: 9 });
});
