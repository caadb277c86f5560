import { chownSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { grantsOf, operatorKey, sessionToken } from '../../actors/runtime/credentials.ts';
import { temporaryDirectory } from '../persistence/support/temporaryStore.ts';

const keyIn = (stateDir: string): string => join(stateDir, 'operator.key');

it('makes one private key and keeps it', () => {
  const stateDir = temporaryDirectory();
  const key = operatorKey({ stateDir });
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(operatorKey({ stateDir })).toBe(key);
  expect(operatorKey({ stateDir: temporaryDirectory() })).not.toBe(key);
  expect(statSync(keyIn(stateDir)).mode & 0o777).toBe(0o600);
  expect(readdirSync(stateDir)).toEqual(['operator.key']);
});

it.each(['', '\n', 'not a key\n'])('takes no key from a file that holds %j: its tokens could be anybody’s', (text) => {
  const stateDir = temporaryDirectory();
  writeFileSync(keyIn(stateDir), text, { mode: 0o600 });
  expect(() => operatorKey({ stateDir })).toThrow(expect.objectContaining({ code: 'operator_key_unusable' }));
  expect(existsSync(keyIn(stateDir))).toBe(true);
});

it('gives each session a token of its own, which is nobody else’s (ruling 24)', () => {
  const key = operatorKey({ stateDir: temporaryDirectory() });
  const token = sessionToken(key, 'P1');
  expect(grantsOf(key, 'P1', token)).toEqual([]);
  expect(grantsOf(key, 'P2', token)).toBeUndefined();
  expect(grantsOf('0'.repeat(64), 'P1', token)).toBeUndefined();
  expect(grantsOf(key, 'P1', token.slice(0, -1))).toBeUndefined();
  expect(grantsOf(key, 'P1', '')).toBeUndefined();
});

it('tells what was granted, which nobody can add to', () => {
  const key = operatorKey({ stateDir: temporaryDirectory() });
  const token = sessionToken(key, 'P1', ['sessions', 'goals', 'goals']);
  expect(token.length).toBeLessThanOrEqual(96);
  expect(grantsOf(key, 'P1', token)).toEqual(['goals', 'sessions']);
  for (const changed of [`sessions.${token}`, token.replace('goals+', ''), `goals.${sessionToken(key, 'P1')}`]) {
    expect(grantsOf(key, 'P1', changed)).toBeUndefined();
  }
});

it('takes a key from nobody else’s file', () => {
  const stateDir = temporaryDirectory();
  operatorKey({ stateDir });
  if (process.getuid!() !== 0) return; // nobody else can give a file away
  chownSync(keyIn(stateDir), 1, 1);
  expect(() => operatorKey({ stateDir })).toThrow('belongs to user 1');
});
