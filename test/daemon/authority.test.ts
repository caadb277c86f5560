/** Who may ask the daemon for what (ruling 24): every command of the contract, so that a new one cannot be forgotten. */
import { chmodSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callSchemas, streamSchemas } from '../../actors/daemon/api/contract.ts';
import { operatorKey, sessionCredential, sessionToken } from '../../actors/runtime/credentials.ts';
import { placesOf, readRendezvous } from '../../actors/runtime/places.ts';
import { exchange } from '../../cli/wire.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { patienceMs } from '../support/patience.ts';
import { opened, over } from './support/terminals.ts';

const calls = Object.keys(callSchemas);
const streams = Object.keys(streamSchemas);

/** These bring a token of their own along, or show nothing of anybody's work. */
const forAnyone = ['agent.boundary', 'agent.goal', 'agent.needInput', 'agent.result', 'config', 'doctor', 'status'];

/** The code with which a command is refused, whatever else is wrong with the question; undefined for an answer. */
async function refusalOf(daemon: TestDaemon, name: string, credential?: string): Promise<string | undefined> {
  const { socket } = readRendezvous(placesOf({ stateDir: daemon.home.stateDir, env: {} }))!;
  const path = `/v1/${streams.includes(name) ? 'stream' : 'call'}/${name}`;
  const asked = { method: 'POST', path, body: { nothing: 'that fits' }, credential } as const;
  const answer = await exchange(socket, asked, { answerWithinMs: patienceMs });
  const chunks: Buffer[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  const { error } = JSON.parse(Buffer.concat(chunks).toString());
  if (error?.code === 'not_operator')
    expect(error).toMatchObject({ exitCode: 4, next: expect.arrayContaining([expect.any(String)]) });
  return error?.code;
}

/** The commands, of all that there are, that are not refused for want of a right. */
async function permitted(daemon: TestDaemon, credential?: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of [...calls, ...streams]) {
    if ((await refusalOf(daemon, name, credential)) !== 'not_operator') found.push(name);
  }
  return found.sort();
}

describe('ruling 24: what may be asked', () => {
  it('without showing the right: what tells nothing of anybody’s work, and the verbs of agents', async () => {
    const daemon = await testDaemon().start();
    expect(await permitted(daemon)).toEqual(forAnyone);
    const key = operatorKey(daemon.home);
    for (const credential of [key, `operator ${key}`, `operator ${'0'.repeat(64)}`, 'operator ', 'session  ']) {
      expect(await refusalOf(daemon, 'goals.cancel', credential)).toBe('not_operator');
    }
    expect(await permitted(daemon, daemon.credential)).toEqual([...calls, ...streams].sort());
  });

  it('by a session: nothing more, unless it was granted at its launch, and as long as it works', async () => {
    const daemon = await testDaemon().start();
    const { sessionId, runId } = await opened(daemon, 'exec cat');
    const key = operatorKey(daemon.home);
    const shown = (...grants: Parameters<typeof sessionToken>[2] & {}) =>
      sessionCredential(sessionId, sessionToken(key, sessionId, grants));
    expect(await permitted(daemon, shown())).toEqual(forAnyone);
    const goals = ['goals.add', 'goals.list', 'goals.show'];
    const sessions = calls.filter((name) => name.startsWith('sessions.'));
    expect(await permitted(daemon, shown('goals'))).toEqual([...forAnyone, ...goals].sort());
    expect(await permitted(daemon, shown('sessions'))).toEqual([...forAnyone, ...sessions].sort());
    const forged = `sessions.${sessionToken(key, sessionId)}`;
    expect(await permitted(daemon, sessionCredential(sessionId, forged))).toEqual(forAnyone);
    await daemon.call('runs.stop', { id: runId });
    await over(daemon, sessionId);
    expect(await permitted(daemon, shown('goals', 'sessions'))).toEqual(forAnyone);
  });
});

describe('the key of the operator', () => {
  it('is in no environment of the work, nor is what follows from it but the token of the session', async () => {
    const daemon = await testDaemon().start();
    const told = join(daemon.home.dir, 'told');
    const { sessionId, runId } = await opened(daemon, `env > "${told}"`);
    await daemon.proved(runId);
    const environment = readFileSync(told, 'utf8');
    const key = operatorKey(daemon.home);
    expect(environment).toContain(`CUSTODY_SESSION_TOKEN=${sessionToken(key, sessionId)}\n`);
    for (const secret of [key, daemon.credential.split(' ')[1]!]) expect(environment).not.toContain(secret);
    expect(environment).not.toContain('operator');
  });

  it.each([
    ['that others may read', (path: string) => chmodSync(path, 0o640), 'has mode 0640'],
    ['that holds something else', (path: string) => writeFileSync(path, 'key\n'), 'does not hold a key'],
    [
      'that is a link',
      (path: string) => {
        writeFileSync(`${path}.copy`, readFileSync(path), { mode: 0o600 });
        rmSync(path);
        symlinkSync(`${path}.copy`, path);
      },
      'is a symbolic link',
    ],
  ])('%s opens nothing, and is named', async (_, spoil, named) => {
    const daemon = await testDaemon().start();
    const { credential } = daemon;
    spoil(join(daemon.home.stateDir, 'operator.key'));
    const answer = await refusalOf(daemon, 'goals.list', credential);
    expect(answer).toBe('operator_key_unusable');
    expect(await refusalOf(daemon, 'status')).not.toBe('operator_key_unusable');
    expect(() => operatorKey(daemon.home)).toThrow(named);
    const { checks } = await daemon.call('doctor', {});
    expect(checks.find(({ id }) => id === 'operator')).toMatchObject({
      ok: false,
      detail: expect.stringContaining(named),
    });
  });

  it('is made anew when it was taken away, and then the old one opens nothing', async () => {
    const daemon = await testDaemon().start();
    const { credential } = daemon;
    rmSync(join(daemon.home.stateDir, 'operator.key'));
    expect(await refusalOf(daemon, 'goals.list', credential)).toBe('not_operator');
    expect(await daemon.call('goals.list', {})).toMatchObject({ goals: [] });
  });
});
