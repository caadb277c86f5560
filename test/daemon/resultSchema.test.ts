/** The JSON Schema of a result: what it asks for is checked, and whoever wrote it cannot stop the daemon with it. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { operatorKey, sessionToken } from '../../actors/runtime/credentials.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { opened, over, size } from './support/terminals.ts';

const resultsOf = ({ home }: TestDaemon): string => join(home.stateDir, 'results');
const kept = (daemon: TestDaemon): string[] => (existsSync(resultsOf(daemon)) ? readdirSync(resultsOf(daemon)) : []);

const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

async function speaker(daemon: TestDaemon, resultSchema: object) {
  const { sessionId } = await opened(daemon, 'exec cat', { terminal: { resultSchema } });
  return { sessionId, token: sessionToken(operatorKey(daemon.home), sessionId) };
}

describe('a result', () => {
  it.each([
    ['required without properties', { type: 'object', required: ['n'] }, '{}'],
    ['required alone', { required: ['n'] }, '{}'],
    ['a number that is too small', { properties: { n: { minimum: 3 } } }, '{"n":2}'],
    ['a dependency', { dependentRequired: { a: ['b'] } }, '{"a":1}'],
    ['a reference', { $ref: '#/$defs/one', $defs: { one: { const: 1 } } }, '2'],
    ['draft 07', { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }, '[1]'],
  ])('has to fit: %s', async (_, resultSchema, result) => {
    const daemon = await testDaemon().start();
    const session = await speaker(daemon, resultSchema);
    expect(await daemon.refusal('agent.result', { session, result })).toMatchObject({
      code: 'result_invalid',
      details: { reasonCode: 'schema_invalid' },
    });
  });

  it('that keeps its pattern busy for ever is refused, and the daemon answers everybody else meanwhile', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '0' } }).start();
    const session = await speaker(daemon, { properties: { text: { pattern: '^(a+)+$' } } });
    const result = JSON.stringify({ text: `${'a'.repeat(60)}!` });
    let isRefused = false;
    const refusal = daemon.refusal('agent.result', { session, result }).finally(() => {
      isRefused = true;
    });
    for (let asked = 0; asked < 20; asked += 1) await daemon.call('goals.list', {});
    expect(isRefused).toBe(false);
    expect(await refusal).toMatchObject({ code: 'result_invalid', details: { reasonCode: 'schema_endless' } });
    expect(await over(daemon, session.sessionId)).toMatchObject({
      structured: null,
      firstFailure: { cause: 'result', reason: 'schema_endless' },
    });
  });

  it.each([
    ['a schema that refers to itself', { $ref: '#' }, '1'],
    ['a value without an end', { $ref: '#/$defs/a', $defs: { a: { items: { $ref: '#/$defs/a' } } } }, deep],
  ])('that cannot be compared is a failure of the result, not of the daemon: %s', async (_, resultSchema, result) => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '0' } }).start();
    const session = await speaker(daemon, resultSchema);
    expect(await daemon.refusal('agent.result', { session, result })).toMatchObject({
      code: 'result_invalid',
      details: { reasonCode: 'schema_endless' },
    });
    expect(await over(daemon, session.sessionId)).toMatchObject({ firstFailure: { reason: 'schema_endless' } });
  });
});

describe('a launch with a schema', () => {
  it.each([
    ['a keyword that nobody knows', { requird: ['n'] }],
    ['a type that there is not', { type: 'thing' }],
    ['a pattern that is none', { pattern: '(' }],
    ['a reference to elsewhere', { $ref: 'https://example.org/schema.json' }],
  ])('that has %s is refused by name, and leaves nothing', async (_, resultSchema) => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const args = daemon.launchArguments(goalId, 'exit 0', { terminal: { ...size, resultSchema } });
    expect(await daemon.refusal('runs.exec', args)).toMatchObject({ code: 'result_schema_unusable', exitCode: 2 });
    expect((await daemon.call('sessions.list', { all: true })).sessions).toEqual([]);
    expect(kept(daemon)).toEqual([]);
  });

  it('that is refused for something else leaves no schema; one that is admitted keeps it for itself', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const resultSchema = { type: 'object', format: 'whatever' };
    const args = daemon.launchArguments(goalId, 'exec cat', { terminal: { ...size, resultSchema }, requestId: 'one' });
    await daemon.call('pause', {});
    expect(await daemon.attempt('runs.exec', args)).toMatchObject({ ok: false });
    expect(kept(daemon)).toEqual([]);
    await daemon.call('resume', {});
    const { sessionId } = await daemon.call('runs.exec', args);
    expect(kept(daemon)).toEqual([`${sessionId}.schema.json`]);
    expect(statSync(join(resultsOf(daemon), kept(daemon)[0]!)).mode & 0o777).toBe(0o600);
    expect(await daemon.call('runs.exec', args)).toMatchObject({ sessionId });
    const other = { ...args, terminal: { ...size, resultSchema: { type: 'string' } } };
    expect(await daemon.refusal('runs.exec', other)).toMatchObject({ code: 'event_id_conflict', exitCode: 11 });
    expect(kept(daemon)).toEqual([`${sessionId}.schema.json`]);
  });
});
