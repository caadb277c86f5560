/** What an agent reports: whose word it is, and what is left of it on the disk. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { operatorKey, sessionToken } from '../../actors/runtime/credentials.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { contentOf, everyFile } from './support/files.ts';

const resultSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };

async function speaker(daemon: TestDaemon) {
  const { goalId } = await daemon.goal();
  const { sessionId: id, runId } = await daemon.exec(goalId, 'exec cat', {
    terminal: { cols: 80, rows: 24, resultSchema },
  });
  const sessionId = id as string;
  const token = sessionToken(operatorKey(daemon.home), sessionId);
  return { sessionId, runId, goalId, token, session: { sessionId, token } };
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const kept = ({ home }: TestDaemon): string[] =>
  readdirSync(join(home.stateDir, 'results')).filter((name) => !name.endsWith('.schema.json'));

it('keeps the result that counts as it was, whatever is reported after it (PTY-06)', async () => {
  const daemon = await testDaemon().start();
  const { sessionId, session } = await speaker(daemon);
  const [first, second] = ['{"n":1}', '{"n":2}'];
  expect(await daemon.call('agent.result', { session, result: first })).toMatchObject({ digest: digestOf(first) });
  expect(await daemon.call('agent.result', { session, result: first })).toMatchObject({ digest: digestOf(first) });
  for (const result of [second, 'not JSON'])
    expect(await daemon.refusal('agent.result', { session, result })).toMatchObject({
      code: 'preconditions_unmet',
      exitCode: 13,
    });
  const { structured } = await daemon.call('sessions.show', { id: sessionId });
  expect(structured).toBe(digestOf(first));
  expect(kept(daemon)).toEqual([`${sessionId}.${structured}.json`]);
  const path = join(daemon.home.stateDir, 'results', kept(daemon)[0]!);
  expect(readFileSync(path, 'utf8')).toBe(first);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('keeps a result that does not fit, because it is what the session failed by', async () => {
  const daemon = await testDaemon().start();
  const { sessionId, session } = await speaker(daemon);
  const result = '{"left":1}';
  expect(await daemon.refusal('agent.result', { session, result })).toMatchObject({ code: 'result_invalid' });
  expect(await daemon.refusal('agent.result', { session, result })).toMatchObject({ exitCode: 13 });
  expect(kept(daemon)).toEqual([`${sessionId}.${digestOf(result)}.json`]);
});

it('hears nobody with the token of another session, and stores none (ruling 24, PRIV-01)', async () => {
  const daemon = await testDaemon().start();
  const [one, other] = [await speaker(daemon), await speaker(daemon)];
  const borrowed = { sessionId: one.sessionId, token: other.token };
  expect(await daemon.refusal('agent.result', { session: borrowed, result: '{"n":1}' })).toMatchObject({
    code: 'not_controller',
    exitCode: 4,
  });
  expect(await daemon.refusal('agent.goal', { session: borrowed })).toMatchObject({ code: 'not_controller' });
  expect(await daemon.call('agent.goal', { session: one.session })).toMatchObject({ goalId: one.goalId });
  await daemon.call('agent.result', { session: one.session, result: '{"n":1}' });
  await daemon.proved(one.runId);
  const files = [...everyFile(daemon.home.dir)].filter(({ info }) => info.isFile());
  const holders = files.filter(({ path }) => contentOf(path).includes(one.token));
  expect(holders.map(({ path }) => path)).toEqual([]);
  const others = files.filter(({ path, info }) => path.includes('/results/') && (info.mode & 0o077) !== 0);
  expect(others.map(({ path }) => path)).toEqual([]);
});
