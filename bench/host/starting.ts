/** What a start costs: opening the store, a host, and every live actor, with and without a long past. */
import { join } from 'node:path';
import { openStore } from '../../persistence/store.ts';
import { median } from '../timing.ts';
import { abandoned, clock, hostOver, launched } from './scopes.ts';

const live = 1_000;
const ended = 100_000;
const rounds = 15;

export async function measureStart(directory: string): Promise<void> {
  const young = join(directory, 'young');
  const old = join(directory, 'old');
  await fill(young, 0);
  await fill(old, ended);
  const times: Record<'young' | 'old', number[]> = { young: [], old: [] };
  for (let round = 0; round < rounds; round += 1) {
    times.young.push(start(young));
    times.old.push(start(old));
  }
  const [young50, old50] = [median(times.young), median(times.old)];
  console.log(
    `start with ${live} live: ${young50.toFixed(1)} ms; with ${ended} ended besides: ${old50.toFixed(1)} ms;`,
    `ratio ${(old50 / young50).toFixed(2)}, target 1.2`,
  );
}

/** Ended ones first and in between, as they are in a store that has been used. */
async function fill(stateDir: string, ends: number): Promise<void> {
  const store = openStore({ stateDir, clock, create: true });
  const host = hostOver(store);
  let calls: Promise<unknown>[] = [];
  for (let n = 0; n < Math.max(ends, live); n += 1) {
    if (n < ends) calls.push(host.submit(abandoned(`E${n}`)));
    if (n % (Math.max(ends, live) / live) === 0) calls.push(host.submit(launched(`L${n}`)));
    if (calls.length < 500) continue;
    await Promise.all(calls);
    calls = [];
  }
  await Promise.all(calls);
  await host.close();
  store.close();
}

function start(stateDir: string): number {
  const before = process.hrtime.bigint();
  const store = openStore({ stateDir, clock, create: false });
  const host = hostOver(store);
  let found = 0;
  for (let after = 0; ; ) {
    const page = host.list('executionScope', { released: false, after, limit: 1_000 });
    for (const { id } of page) if (host.snapshotOf('executionScope', id)) found += 1;
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.key;
  }
  if (found !== live) throw new Error(`found ${found} live actors`);
  host.list('run', { settled: false });
  store.outbox.open({ position: 0, ordinal: -1 }, 256);
  const took = Number(process.hrtime.bigint() - before) / 1e6;
  store.close();
  return took;
}
