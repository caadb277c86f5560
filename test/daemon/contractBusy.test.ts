/** CONC-01: the report of the containment check is brought to a store that was busy, and the check is not made again. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import pino from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { calendarClock } from '../../actors/daemon/calendarClock.ts';
import { isContractCurrent, keepContractCurrent } from '../../actors/daemon/contract/verify.ts';
import { createHost } from '../../actors/host/host.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { selectAdapter } from '../../actors/observe/select.ts';
import { placesOf } from '../../actors/runtime/places.ts';
import { installationIdSchema } from '../../machines/ids.ts';
import { protocol } from '../../machines/protocol.ts';
import { openStore } from '../../persistence/store.ts';
import { guardianBinary, guardianDigest } from '../../pty/launch/binary.ts';
import { workDirectory } from '../guardian/support/scope.ts';
import { occupied } from './support/occupied.ts';

async function installation() {
  const stateDir = join(workDirectory(), 'state');
  mkdirSync(stateDir, { mode: 0o700 });
  const store = openStore({ stateDir, clock: calendarClock, create: true, busyMs: 20 });
  const clock = createSystemClock();
  const host = createHost({ ...protocol, store, clock });
  onTestFinished(async () => {
    await host.close();
    store.close();
  });
  const path = await guardianBinary();
  const guardian = { path, digest: guardianDigest(path) };
  let heard!: () => void;
  const refused = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const log = pino(
    {},
    new Writable({ write: (line, _, done) => done(void (String(line).includes('store_busy') && heard())) }),
  );
  const config = { retryBackoffMs: 20, retryBackoffLongestMs: 100 };
  const leaving = new AbortController();
  const parts = {
    store,
    host,
    clock,
    guardian,
    adapter: selectAdapter(process.platform, { installationId: installationIdSchema.parse(store.installationId) }),
    log,
    config,
    leaving: leaving.signal,
    places: placesOf({ stateDir, env: {} }),
  };
  return {
    parts: parts as never,
    store,
    guardian,
    refused,
    leaving,
    occupy: () => occupied({ home: { stateDir } } as never),
  };
}

it('is recorded as soon as there is room', async () => {
  const { parts, store, guardian, refused, occupy } = await installation();
  const letGo = occupy();
  const kept = keepContractCurrent(parts);
  await refused;
  expect(isContractCurrent(store, guardian.digest)).toBe(false);
  // A second check would find nothing to check, and say so.
  guardian.path = '/nowhere';
  letGo();
  await kept;
  expect(isContractCurrent(store, guardian.digest)).toBe(true);
});

it('holds up no daemon that leaves', async () => {
  const { parts, store, guardian, refused, leaving, occupy } = await installation();
  const letGo = occupy();
  onTestFinished(letGo);
  const kept = keepContractCurrent(parts);
  await refused;
  leaving.abort();
  await kept;
  expect(isContractCurrent(store, guardian.digest)).toBe(false);
});
