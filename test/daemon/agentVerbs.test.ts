/** What an agent may say from inside its session, when it counts, and what happens to what does not (ruling 24, PTY-03, PTY-06). */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { type Opened, opened, over, typed } from './support/terminals.ts';

interface Agent extends Opened {
  readonly session: { readonly sessionId: string; readonly token: string };
  readonly turn: ReturnType<typeof turns>;
}

/** A session that tells its token, waits to be let go, and ends with `ending`. */
async function agent(daemon: TestDaemon, { ending = 'exit 0', terminal = {}, name = 'agent' } = {}): Promise<Agent> {
  const turn = turns(daemon.home.dir, name);
  const token = join(daemon.home.dir, `${name}.token`);
  const script = `trap '' TERM HUP; printf %s "$CUSTODY_SESSION_TOKEN" > ${token}; echo $$ > ${turn.paths[0]}; read go < ${turn.paths[1]}; ${ending}`;
  const open = await opened(daemon, script, { terminal });
  await turn.ready();
  return { ...open, turn, session: { sessionId: open.sessionId, token: readFileSync(token, 'utf8') } };
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const fileOf = (daemon: TestDaemon, sessionId: string, result: string): string =>
  join(daemon.home.stateDir, 'results', `${sessionId}.${digestOf(result)}.json`);
const show = (daemon: TestDaemon, id: string) => daemon.call('sessions.show', { id });
/** The agent may still write its status after its result: nothing ends it before. */
const patient = { env: { CUSTODY_GRACE_MS: '60000' } };

describe('the token of a session', () => {
  it('speaks for that session alone, and for none with a letter wrong', async () => {
    const daemon = await testDaemon().start();
    const first = await agent(daemon, { name: 'first' });
    const second = await agent(daemon, { name: 'second' });
    const refused = { code: 'not_controller', exitCode: 4 };
    const foreign = { sessionId: first.sessionId, token: second.session.token };
    for (const session of [
      foreign,
      { ...first.session, token: `${first.session.token.slice(0, -1)}x` },
      { ...first.session, token: 'x' },
      { ...first.session, sessionId: first.sessionId.slice(0, 6) },
      { ...first.session, sessionId: first.runId },
    ]) {
      expect(await daemon.refusal('agent.result', { session, result: '{}' })).toMatchObject(refused);
      expect(await daemon.refusal('agent.needInput', { session, reason: 'question' })).toMatchObject(refused);
      expect(await daemon.refusal('agent.goal', { session })).toMatchObject(refused);
      expect(await daemon.refusal('agent.boundary', { session, name: 'publish' })).toMatchObject(refused);
    }
    expect(await show(daemon, first.sessionId)).toMatchObject({ workload: 'running.working', firstFailure: null });
    expect(await daemon.call('agent.goal', { session: first.session })).toMatchObject({ goalId: first.goalId });
  });

  it('changes nothing any more once the session has ended', async () => {
    const daemon = await testDaemon().start();
    const { session, sessionId, turn } = await agent(daemon, { ending: 'exit 3' });
    await turn.release();
    await over(daemon, sessionId);
    const before = await show(daemon, sessionId);
    expect(await daemon.attempt('agent.result', { session, result: '{"late":true}' })).toMatchObject({ ok: false });
    expect(await daemon.attempt('agent.needInput', { session, reason: 'late' })).toMatchObject({ ok: false });
    expect(await show(daemon, sessionId)).toEqual(before);
    expect(existsSync(fileOf(daemon, sessionId, '{"late":true}'))).toBe(false);
  });
});

describe('a result', () => {
  const resultSchema = {
    type: 'object',
    properties: { verdict: { enum: ['pass', 'fail'] } },
    required: ['verdict'],
    additionalProperties: false,
  };

  it.each([
    ['not_json', '{"verdict":'],
    ['schema_invalid', '{"verdict":"perhaps"}'],
    ['schema_invalid', '{}'],
  ])('that is %s is the first failure, and the work is drained', async (reason, result) => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '0' } }).start();
    const { session, sessionId, runId } = await agent(daemon, { terminal: { resultSchema } });
    expect(await daemon.refusal('agent.result', { session, result })).toMatchObject({
      code: 'result_invalid',
      exitCode: 13,
      details: { reasonCode: reason },
    });
    expect(await over(daemon, sessionId)).toMatchObject({
      firstFailure: { cause: 'result', reason },
      structured: null,
      result: { how: 'signaled' },
    });
    expect(await daemon.proved(runId)).toMatchObject({ scope: { state: 'exited' } });
  });

  it('that is valid is pending until the status is known, and then counts (PTY-03)', async () => {
    const daemon = await testDaemon(patient).start();
    const { session, sessionId, turn } = await agent(daemon, { terminal: { resultSchema } });
    const result = '{"verdict":"pass"}';
    expect(await daemon.call('agent.result', { session, result })).toEqual({ sessionId, digest: digestOf(result) });
    expect(await show(daemon, sessionId)).toMatchObject({ workload: 'ending', structured: null });
    await turn.release();
    expect(await over(daemon, sessionId)).toMatchObject({ structured: digestOf(result), firstFailure: null });
    expect(readFileSync(fileOf(daemon, sessionId, result), 'utf8')).toBe(result);
    expect(statSync(fileOf(daemon, sessionId, result)).mode & 0o777).toBe(0o600);
    expect(JSON.stringify(await daemon.events({ actor: sessionId }))).not.toContain('verdict');
  });

  it('that is valid counts behind any authentic status, because the drain that it asked for ends the agent as well', async () => {
    const daemon = await testDaemon(patient).start();
    const { session, sessionId, turn } = await agent(daemon, { ending: 'exit 9', terminal: { resultSchema } });
    const result = '{"verdict":"pass"}';
    await daemon.call('agent.result', { session, result });
    await turn.release();
    expect(await over(daemon, sessionId)).toMatchObject({
      result: { how: 'exited', code: 9 },
      structured: digestOf(result),
      firstFailure: null,
    });
  });

  it('survives what is said after it: neither another nor an invalid one takes its place (PTY-06)', async () => {
    const daemon = await testDaemon(patient).start();
    const { session, sessionId, turn } = await agent(daemon, { terminal: { resultSchema } });
    const result = '{"verdict":"pass"}';
    await daemon.call('agent.result', { session, result });
    for (const later of ['{"verdict":"fail"}', 'nonsense']) {
      expect(await daemon.attempt('agent.result', { session, result: later })).toMatchObject({ ok: false });
      expect(existsSync(fileOf(daemon, sessionId, later))).toBe(false);
    }
    await turn.release();
    expect(await over(daemon, sessionId)).toMatchObject({ structured: digestOf(result), firstFailure: null });
    expect(readFileSync(fileOf(daemon, sessionId, result), 'utf8')).toBe(result);
  });
});

describe('a call for input', () => {
  it('is answered by what is sent, and the agent works again', async () => {
    const daemon = await testDaemon().start();
    const { session, sessionId, turn } = await agent(daemon, { ending: 'stty -echo; read line; read last; exit 4' });
    await turn.release();
    expect(await daemon.call('agent.needInput', { session, reason: 'which_branch' })).toMatchObject({
      state: 'running.needsInput',
    });
    await daemon.restart();
    expect(await show(daemon, sessionId)).toMatchObject({ workload: 'running.needsInput' });
    await typed(daemon, sessionId, 'the answer');
    const isAnswered = async () => {
      const events = await daemon.events({ actor: sessionId, type: 'session.inputSent' });
      return events.some(({ outcome }) => outcome === 'changed') || undefined;
    };
    await eventually('the answer in the journal', isAnswered);
    // Only now may it end: the status of an agent that is quicker than the journal would be told before its answer.
    await typed(daemon, sessionId, 'that was all');
    expect(await over(daemon, sessionId)).toMatchObject({ result: { code: 4 }, firstFailure: null });
  });
});
