/** A daemon that sends its spans to a collector on this machine, over real HTTP. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { Exporter } from '../../../inspect/traces/exporter.ts';
import { SmallProvider } from '../../../inspect/traces/provider.ts';
import { testDaemon } from '../../support/daemon.ts';

interface Posted {
  readonly path: string | undefined;
  readonly text: string;
}

async function collector(answer: (request: IncomingMessage) => number = () => 200) {
  const posted: Posted[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      posted.push({ path: request.url, text: Buffer.concat(chunks).toString() });
      response.writeHead(answer(request)).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { posted, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is what is looked at
const spansIn = (posted: readonly Posted[]): any[] =>
  posted.flatMap(({ text }) =>
    JSON.parse(text).resourceSpans[0].scopeSpans.flatMap((each: { spans: unknown[] }) => each.spans),
  );

it('is sent what a run was, with ids and times and nothing that anybody wrote', async () => {
  const { posted, url } = await collector();
  const daemon = await testDaemon({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } }).start();
  const { goalId } = await daemon.goal();
  const { runId, scopeId } = await daemon.exec(goalId, 'echo planted-words; exit 3', {
    label: 'planted-label',
    env: { PLANTED: 'planted-value' },
  });
  await daemon.proved(runId);
  await daemon.call('goals.cancel', { id: goalId, reason: 'planted-reason' });
  await daemon.kill('SIGTERM');
  expect(new Set(posted.map(({ path }) => path))).toEqual(new Set(['/v1/traces']));
  const spans = spansIn(posted);
  const launch = spans.find(
    ({ name, attributes }) => name === 'custody.launch' && JSON.stringify(attributes).includes(scopeId as string),
  );
  expect(launch).toMatchObject({
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    status: { code: 0 },
  });
  expect(BigInt(launch.endTimeUnixNano) >= BigInt(launch.startTimeUnixNano)).toBe(true);
  expect(launch.attributes).toContainEqual({ key: 'custody.root.code', value: { intValue: '3' } });
  const goal = spans.find(({ name }) => name === 'custody.goal');
  expect(launch).toMatchObject({ traceId: goal.traceId, parentSpanId: goal.spanId });
  expect(spans.filter(({ name }) => name === 'custody.commit').length).toBeGreaterThan(3);
  const text = posted.map((one) => one.text).join();
  for (const planted of ['planted', 'a goal', 'do something', daemon.home.dir, 'echo'])
    expect(text).not.toContain(planted);
});

it('loses spans, says how many, and waits for nobody, where the collector refuses', async () => {
  const { url } = await collector(() => 503);
  const losses: unknown[] = [];
  const exporter = new Exporter({ url, resource: {}, onLoss: (...loss) => losses.push(loss) });
  const tracer = new SmallProvider((span) => exporter.add(span)).getTracer('t');
  for (let n = 0; n < 5_000; n += 1) tracer.startSpan(`s${n}`).end();
  await exporter.close();
  expect(losses).toEqual([
    [904, 'too many were waiting'],
    [4_096, 'status 503'],
  ]);
});

it('reads nothing of an answer but whether it was taken: one without an end costs neither time nor memory', async () => {
  const endless = createServer((request, response) => {
    request.resume();
    response.on('error', () => {});
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', more);
    request.on('end', more);
  });
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    endless.closeAllConnections();
    endless.close();
  });
  const losses: unknown[] = [];
  const url = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
  const onLoss = (...loss: readonly unknown[]) => losses.push(loss);
  const exporter = new Exporter({ url, resource: {}, onLoss, closeWithinMs: 1_000 });
  new SmallProvider((span) => exporter.add(span)).getTracer('t').startSpan('s').end();
  await exporter.close();
  expect(losses).toEqual([]);
});

it('sends batches of a bounded size, in order', async () => {
  const { posted, url } = await collector();
  const exporter = new Exporter({ url, resource: { 'service.name': 'x' }, onLoss: () => expect.unreachable() });
  const tracer = new SmallProvider((span) => exporter.add(span)).getTracer('t');
  for (let n = 0; n < 1_000; n += 1) tracer.startSpan(`s${n}`).end();
  await exporter.close();
  expect(posted.map((one) => spansIn([one]).length)).toEqual([512, 488]);
  expect(spansIn(posted).map(({ name }) => name)).toEqual(Array.from({ length: 1_000 }, (_, n) => `s${n}`));
});

it('gives up within one deadline when it is closed, whatever is left to send', async () => {
  let requests = 0;
  const silent = createServer((request, response) => {
    requests += 1;
    request.resume();
    // Answers for one batch, and for no other.
    if (requests === 1) response.end('{}');
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const losses: unknown[] = [];
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const onLoss = (...loss: readonly unknown[]) => losses.push(loss);
  const exporter = new Exporter({ url, resource: {}, onLoss, closeWithinMs: 1_000 });
  const tracer = new SmallProvider((span) => exporter.add(span)).getTracer('t');
  for (let n = 0; n < 1_500; n += 1) tracer.startSpan(`s${n}`).end();
  await exporter.close();
  // The time of a request alone would have said TimeoutError, and later.
  expect([requests, losses]).toEqual([2, [[988, 'AbortError']]]);
});

it('leaves a provider in place that was registered before the program, and sends nothing elsewhere then', async () => {
  const { posted, url } = await collector();
  const required = fileURLToPath(new URL('fixtures/provider.cjs', import.meta.url));
  const env = { NODE_OPTIONS: `--require=${required}`, OTEL_EXPORTER_OTLP_ENDPOINT: url };
  const daemon = await testDaemon({ env }).start();
  const { goalId } = await daemon.goal();
  await daemon.call('goals.cancel', { id: goalId });
  await daemon.kill('SIGTERM');
  const names = readFileSync(join(daemon.home.dir, 'tmp', 'spans'), 'utf8').split('\n');
  expect(names).toContain('custody.goal');
  expect(names).toContain('custody.commit');
  expect(posted).toEqual([]);
});
