/**
 * Terminals through the PTY host against bare node-pty, interleaved in one run: bytes per second, echo, what idle sessions
 * cost, and what it takes to attach to a long transcript. `npm run bench -- pty [ROUNDS] [MEGABYTES]`.
 */
import { spawn as spawnBare } from 'node-pty';
import { median } from '../timing.ts';
import { Holder, type Watcher } from './holder.ts';

const rounds = Number(process.argv[2] ?? 7);
const megabytes = Number(process.argv[3] ?? 32);
const bytes = megabytes * 1024 * 1024;

const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const print = (label: string, text: string): void => console.log(`${label.padEnd(34)} ${text}`);

/** 79 columns of text and a line end, which the line discipline turns into two. */
const flood = `yes ${'x'.repeat(79)} | head -c ${Math.floor((bytes * 80) / 81)}`;

/** Bytes that arrived, per millisecond; node-pty may lose the last of them (libuv takes a hang-up for the end). */
async function bareRate(): Promise<number> {
  const started = now();
  let arrived = 0;
  let last = started;
  const terminal = spawnBare('sh', ['-c', flood], { encoding: null });
  terminal.onData((data) => {
    arrived += (data as unknown as Buffer).length;
    last = now();
  });
  await new Promise<void>((resolve) => terminal.onExit(() => resolve()));
  return arrived / (last - started);
}

async function heldRate(holder: Holder, viewer: Watcher | undefined): Promise<number> {
  const { sessionId } = await holder.open(['sh', '-c', flood]);
  const over = new Promise<void>((resolve) => {
    if (viewer === undefined) return;
    viewer.event = (event) => event.event === 'captureEnded' && resolve();
  });
  let arrived = 0;
  if (viewer !== undefined) {
    viewer.output = (piece) => {
      arrived += piece.length;
    };
    await viewer.client.ask({ do: 'attach', sessionId, mode: 'every byte', readOnly: true, from: 0 });
  }
  const started = now();
  await holder.ask({ do: 'release', sessionId });
  if (viewer !== undefined) await over;
  else await holder.ask({ do: 'wait', sessionId, until: { kind: 'exit' }, withinMs: 120_000 });
  const elapsed = now() - started;
  if (viewer === undefined) {
    const { sessions } = await holder.ask<{ sessions: { sessionId: string; bytes: number }[] }>({ do: 'list' });
    arrived = sessions.find((session) => session.sessionId === sessionId)!.bytes;
  }
  await holder.ask({ do: 'forget', sessionId });
  return arrived / elapsed;
}

const echoes = 300;

async function bareEcho(): Promise<number> {
  let arrived: () => void = () => {};
  const terminal = spawnBare('sh', ['-c', 'stty raw -echo; printf r; exec cat'], { encoding: null });
  const heard = (): Promise<void> => new Promise((resolve) => (arrived = resolve));
  terminal.onData(() => arrived());
  await heard();
  const times: number[] = [];
  for (let count = 0; count < echoes; count++) {
    const started = now();
    const answer = heard();
    terminal.write('k');
    await answer;
    times.push(now() - started);
  }
  terminal.kill('SIGKILL');
  return median(times);
}

async function heldEcho(holder: Holder, viewer: Watcher): Promise<number> {
  const { sessionId } = await holder.open(['sh', '-c', 'stty raw -echo; printf r; exec cat']);
  let arrived: () => void = () => {};
  const heard = (): Promise<void> => new Promise((resolve) => (arrived = resolve));
  viewer.output = () => arrived();
  await viewer.client.ask({ do: 'attach', sessionId, mode: 'every byte', readOnly: false, from: 0 });
  const ready = heard();
  await holder.ask({ do: 'release', sessionId });
  await ready;
  const times: number[] = [];
  for (let count = 0; count < echoes; count++) {
    const started = now();
    const answer = heard();
    viewer.client.type(Buffer.from('k'));
    await answer;
    times.push(now() - started);
  }
  await holder.ask({ do: 'finish', sessionId, reason: 'bench', withinMs: 0 });
  await holder.ask({ do: 'forget', sessionId });
  return median(times);
}

/**
 * Of a fresh holder, where no flood has left memory that it could use again: sessions that come after others, so that what
 * is loaded for the first of them does not count. What their opening leaves to the garbage collector does.
 */
async function idleCost(): Promise<{ bytesEach: number; wakeups: number; count: number }> {
  const holder = new Holder();
  const open = async (count: number): Promise<void> => {
    for (let number = 0; number < count; number++) {
      const { sessionId } = await holder.open(['sh', '-c', 'printf ready; exec sleep 600']);
      await holder.ask({ do: 'release', sessionId });
      await holder.ask({ do: 'wait', sessionId, until: { kind: 'quiet', quietMs: 300 }, withinMs: 30_000 });
    }
    // The screens are put away once they have been quiet, and the last reports of activity are gone after a second.
    await new Promise((resolve) => setTimeout(resolve, 5_000));
  };
  try {
    await holder.ready();
    await open(50);
    const before = holder.figures();
    await open(100);
    const settled = holder.figures();
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    const { wakeups } = holder.figures();
    const bytesEach = (settled.residentBytes - before.residentBytes) / 100;
    return { bytesEach, wakeups: wakeups - settled.wakeups, count: 150 };
  } finally {
    holder.close();
  }
}

async function attachMs(holder: Holder): Promise<number> {
  const hundred = 100 * 1024 * 1024;
  const script = `yes ${'y'.repeat(79)} | head -c ${hundred}; exec sleep 600`;
  const { sessionId } = await holder.open(['sh', '-c', script]);
  await holder.ask({ do: 'release', sessionId });
  await holder.ask({ do: 'wait', sessionId, until: { kind: 'quiet', quietMs: 1_000 }, withinMs: 120_000 });
  await holder.ask({ do: 'screen', sessionId });
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const viewer = await holder.watcher('client');
    const painted = new Promise<void>((resolve) => {
      viewer.event = (event) => event.event === 'screen' && resolve();
    });
    const started = now();
    await viewer.client.ask({ do: 'attach', sessionId, mode: 'screen', readOnly: true });
    await painted;
    times.push(now() - started);
    viewer.client.close();
  }
  return median(times);
}

async function main(): Promise<void> {
  const holder = new Holder();
  try {
    await holder.ready();
    const bare: number[] = [];
    const alone: number[] = [];
    const watched: number[] = [];
    const echoBare: number[] = [];
    const echoHeld: number[] = [];
    for (let round = 0; round < rounds; round++) {
      bare.push(await bareRate());
      alone.push(await heldRate(holder, undefined));
      watched.push(await heldRate(holder, await holder.watcher('client')));
      echoBare.push(await bareEcho());
      echoHeld.push(await heldEcho(holder, await holder.watcher('client')));
    }
    const rate = (values: number[]): string => `${(median(values) / 1000).toFixed(1)} MB/s`;
    const ratio = (values: number[]): string => `${(median(values) / median(bare)).toFixed(2)} x bare`;
    print('bare node-pty', rate(bare));
    print('host and transcript', `${rate(alone)}, ${ratio(alone)}`);
    print('host, transcript and one viewer', `${rate(watched)}, ${ratio(watched)} (wanted: 0.8)`);
    const extra = median(echoHeld) - median(echoBare);
    print('echo, bare', `${median(echoBare).toFixed(3)} ms`);
    print(
      'echo, through the host',
      `${median(echoHeld).toFixed(3)} ms, ${extra.toFixed(3)} more (wanted: at most 0.5)`,
    );
    print('attach to 100 MB', `${(await attachMs(holder)).toFixed(1)} ms (wanted: at most 100)`);
    const idle = await idleCost();
    const each = `${(idle.bytesEach / 1e6).toFixed(2)} MB with its screen (wanted: at most 1)`;
    print('idle session', `${each}; ${idle.wakeups} wakeups of ${idle.count} in 5 s (wanted: none)`);
  } finally {
    holder.close();
  }
}

await main();
process.exit(0);
