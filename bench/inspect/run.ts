/**
 * What looking costs: durable events per second without an inspector and with one that a page is attached to, in turns over
 * copies of the same scopes; and the time between a commit and the line that tells of it. `npm run bench -- inspect`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { InspectedDaemon } from '../../actors/daemon/inspector/port.ts';
import type { Host } from '../../actors/host/api.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { createInspector } from '../../inspect/server/inspector.ts';
import { openStore, type Store } from '../../persistence/store.ts';
import { hostOver, launched, observed } from '../host/scopes.ts';
import { median, quantile } from '../timing.ts';

const scopes = Array.from({ length: 100 }, (_, n) => `S${String(n).padStart(10, '0')}`);
const rounds = 15;
const plan = [
  { perCall: 1, calls: 60 },
  { perCall: 10, calls: 40 },
  { perCall: 100, calls: 20 },
];
const clock = createSystemClock();

interface Side {
  readonly store: Store;
  readonly host: Host;
  readonly next: (count: number) => ReturnType<typeof observed>[];
}

async function side(stateDir: string): Promise<Side> {
  const store = openStore({ stateDir, clock, create: true });
  const host = hostOver(store);
  for (const id of scopes) await host.submit(launched(id));
  let n = 0;
  const next = (count: number) =>
    Array.from({ length: count }, () => {
      n += 1;
      return observed(scopes[n % scopes.length] as string, n, Math.floor(n / scopes.length));
    });
  return { store, host, next };
}

async function watched({
  store,
  host,
}: Side): Promise<{ readonly arrivals: Map<number, bigint>; close(): Promise<void> }> {
  const health = { state: 'ok', digest: '', reasons: [], next: [] };
  const daemon = {
    store,
    host,
    clock,
    version: 'bench',
    log: console,
    health: () => health,
  } as unknown as InspectedDaemon;
  const full = {
    ...daemon,
    capacity: () => ({}),
    admission: () => 'open',
    lifecycle: () => 'serving',
  } as InspectedDaemon;
  const nowhere = pathToFileURL('/nonexistent/');
  const inspector = await createInspector({ assets: nowhere, thread: nowhere }).listen(full, { tcpPort: 0 });
  const { url } = inspector.offer({ control: false, origins: [] });
  const origin = `http://127.0.0.1:${inspector.tcpPort}`;
  const body = JSON.stringify({ code: url.split('#code=')[1] });
  const headers = { 'content-type': 'application/json', origin };
  const opened = await fetch(`${origin}/api/open`, { method: 'POST', headers, body });
  const { token } = (await opened.json()) as { token: string };
  const worker = new Worker(join(import.meta.dirname, 'watcher.mjs'), {
    workerData: { port: inspector.tcpPort, token },
  });
  const arrivals = new Map<number, bigint>();
  await new Promise<void>((resolve) => {
    worker.on('message', ({ position, now }: { position: number; now: bigint }) => {
      arrivals.set(position, now);
      resolve();
    });
  });
  return {
    arrivals,
    async close() {
      await inspector.close();
      await worker.terminate();
    },
  };
}

async function rates(bare: Side, seen: Side): Promise<void> {
  for (const { perCall, calls } of plan) {
    const found = { bare: [] as number[], seen: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, { host, next }] of Object.entries({ bare, seen }) as ['bare' | 'seen', Side][]) {
        const from = process.hrtime.bigint();
        for (let call = 0; call < calls; call += 1) await host.submit(next(perCall));
        found[name].push((calls * perCall * 1e9) / Number(process.hrtime.bigint() - from));
      }
    }
    const [without, attached] = [median(found.bare), median(found.seen)];
    const loss = ((1 - attached / without) * 100).toFixed(1);
    console.log(
      `${perCall} per call: ${Math.round(without)} events/s without, ${Math.round(attached)} attached (${loss} % less)`,
    );
  }
}

/** One change at a time, as people make them; then under the load of calls that follow each other. */
async function latency({ host, next, store }: Side, arrivals: Map<number, bigint>, pauseMs: number): Promise<void> {
  const sent: [position: number, at: bigint][] = [];
  for (let n = 0; n < 300; n += 1) {
    await host.submit(next(1));
    sent.push([store.journal.lastPosition(), process.hrtime.bigint()]);
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  const told = [...arrivals].sort(([one], [other]) => one - other);
  const ms = sent.flatMap(([position, at]) => {
    const line = told.find(([known]) => known >= position);
    return line === undefined ? [] : [Number(line[1] - at) / 1e6];
  });
  const text = [0.5, 0.95, 0.99].map((at) => `p${at * 100} ${quantile(ms, at).toFixed(1)} ms`).join(', ');
  console.log(
    `commit to line, ${pauseMs === 0 ? 'under load' : `every ${pauseMs} ms`}: ${text} (${ms.length} of ${sent.length})`,
  );
}

const directory = mkdtempSync(join(tmpdir(), 'custody-bench-'));
try {
  const [bare, seen] = [await side(join(directory, 'bare')), await side(join(directory, 'seen'))];
  const { arrivals, close } = await watched(seen);
  await rates(bare, seen);
  await latency(seen, arrivals, 20);
  await latency(seen, arrivals, 0);
  await close();
  for (const { host, store } of [bare, seen]) {
    await host.close();
    store.close();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
