/**
 * What tracing costs: durable events per second with nobody who listens, and with spans that are sent to a collector on
 * this machine. Both sides take turns on stores of their own. `npm run bench -- traces`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trace } from '@opentelemetry/api';
import { Exporter } from '../../inspect/traces/exporter.ts';
import { SmallProvider } from '../../inspect/traces/provider.ts';
import { traceCommits } from '../../inspect/traces/tracing.ts';
import { openStore } from '../../persistence/store.ts';
import { abandoned, clock, hostOver, launched, observed } from '../host/scopes.ts';
import { median } from '../timing.ts';

const rounds = 31;
const directory = mkdtempSync(join(tmpdir(), 'custody-bench-'));
let received = 0;
const collector = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  request.on('end', () => response.end('{}'));
});
await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`;
let lost = 0;
const exporter = new Exporter({
  url,
  resource: {},
  onLoss: (spans) => {
    lost += spans;
  },
});
const provider = new SmallProvider((span) => exporter.add(span));

async function side(name: string) {
  const store = openStore({ stateDir: join(directory, name), clock, create: true });
  const host = hostOver(store);
  await host.submit(launched('S0'));
  const faults: unknown[] = [];
  const stop = traceCommits({
    host,
    store,
    version: 'bench',
    monoMs: () => performance.now(),
    onLoss: () => {},
    wallMs: () => clock.now().wallMs,
    onFault: (error) => faults.push(error),
  });
  let n = 0;
  const next = () => {
    n += 1;
    return n;
  };
  const rate = async (events: number, work: () => Promise<unknown>) => {
    const before = process.hrtime.bigint();
    await work();
    return (events * 1e9) / Number(process.hrtime.bigint() - before);
  };
  return {
    small: () =>
      rate(40, async () => {
        for (let each = 0; each < 40; each += 1) await host.submit([observed('S0', next(), n)]);
      }),
    large: () =>
      rate(800, async () => {
        for (let each = 0; each < 8; each += 1)
          await host.submit(Array.from({ length: 100 }, () => observed('S0', next(), n)));
      }),
    ends: () =>
      rate(80, async () => {
        for (let each = 0; each < 40; each += 1) await host.submit(abandoned(`S${next()}`));
      }),
    async close() {
      stop();
      await host.close();
      store.close();
      if (faults.length > 0) throw faults[0];
    },
  };
}

const [silent, heard] = [await side('silent'), await side('heard')];
const kinds = [
  ['small', 'one event per commit'],
  ['large', 'a hundred events per commit'],
  ['ends', 'a life that ends with every commit'],
] as const;
for (const [kind, words] of kinds) {
  const rates = { silent: [] as number[], heard: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    const turns = [
      async () => {
        rates.silent.push(await silent[kind]());
      },
      async () => {
        trace.setGlobalTracerProvider(provider);
        rates.heard.push(await heard[kind]());
        trace.disable();
      },
    ];
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  const ratio = median(rates.heard.map((rate, round) => rate / (rates.silent[round] as number)));
  console.log(
    `${words}: ${median(rates.silent).toFixed(0)}/s without, ${median(rates.heard).toFixed(0)}/s with spans (${ratio.toFixed(3)} of it)`,
  );
}
for (const one of [silent, heard]) await one.close();
await exporter.close();
console.log(`${(received / 1024).toFixed(0)} KiB of spans were received, ${lost} spans were lost`);
collector.close();
rmSync(directory, { recursive: true, force: true });
