/**
 * The containment battery of this host, run with the real guardian: process tricks, each with the receipts that it must
 * and must not leave (PROMO-06). It uses no actor and no store, so that `init` can run a part of it before there is a daemon.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterSilence } from '../../../pty/launch/silence.ts';
import type { ContainmentCheckView } from '../api/views.ts';
import { battery, type Subset } from './battery.ts';
import { type Bench, endGuardian, wakeGuardian } from './bench.ts';

export interface SelfCheckReport {
  readonly subset: Subset;
  readonly passed: boolean;
  readonly checks: readonly ContainmentCheckView[];
}

export interface SelfCheckRequest extends Omit<Bench, 'atEnd'> {
  readonly subset: Subset;
  /** Bounds each check; only a test is less patient. */
  readonly checkMs?: number;
  /** Whoever aborts it hears its reason as soon as everything that was begun is over. */
  readonly signal?: AbortSignal;
}

const prefix = 'selfcheck-';

/** More would measure each other: a check is a handful of processes that are started and awaited. */
const atOnce = 2;

/** A check takes less than a second; without a bound one that hangs would keep the report from everybody. */
const longestMs = 15_000;

/** A check whose guardians have been ended hears of it at once. */
const windingUpMs = 2_000;

/** Runs every check even if one fails. `directory` is a private place of ours; what is made in it is removed again. */
export async function runSelfCheck({
  subset,
  checkMs = longestMs,
  signal = new AbortController().signal,
  ...bench
}: SelfCheckRequest): Promise<SelfCheckReport> {
  signal.throwIfAborted();
  const directory = await mkdtemp(join(bench.directory, prefix));
  const chosen = battery.filter((one) => subset === 'full' || one.subset === subset);
  const checks: ContainmentCheckView[] = [];
  const left = [...chosen.entries()];
  const runSome = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined && !signal.aborted; next = left.shift()) {
      const [place, one] = next;
      checks[place] = await run(one, { ...bench, directory: join(directory, one.id) }, { checkMs, signal });
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, runSome));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  signal.throwIfAborted();
  return { subset, passed: checks.every(({ ok }) => ok), checks };
}

interface Bounds {
  readonly checkMs: number;
  readonly signal: AbortSignal;
}

/** What the check has begun is over when this resolves, also when the check itself is stuck or called off. */
async function run(
  { id, claim, check }: (typeof battery)[number],
  bench: Omit<Bench, 'atEnd'>,
  { checkMs, signal }: Bounds,
): Promise<ContainmentCheckView> {
  const begun = performance.now();
  const undoing: (() => unknown)[] = [];
  let isOver = false;
  const undone = async (): Promise<void> => {
    for (let undo = undoing.pop(); undo !== undefined; undo = undoing.pop())
      await bounded(Promise.resolve().then(undo), checkMs).catch(() => undefined);
  };
  // A check that goes on after its bound gets no further than to the next thing that would have to be undone.
  const atEnd = (undo: () => unknown): void => {
    undoing.push(undo);
    if (isOver) throw new Error('it is over');
  };
  const work = check({ ...bench, atEnd });
  const failure = await bounded(work, checkMs, signal).catch(nameOf);
  isOver = true;
  await undone();
  if (failure !== null) await bounded(work, Math.min(checkMs, windingUpMs)).catch(() => undefined);
  await undone();
  return {
    id: `containment.${id}`,
    ok: failure === null,
    severity: failure === null ? 'info' : 'error',
    claim,
    detail: failure === null ? claim : `${claim}: ${failure}`,
    fix: failure === null ? null : 'custody doctor',
    ms: Math.round(performance.now() - begun),
  };
}

function bounded<T>(work: Promise<T>, ms: number, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = afterSilence(ms, () => reject(new Error('it did not end in time')));
    const abort = (): void => reject(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => {
      callOff();
      signal?.removeEventListener('abort', abort);
    });
  });
}

/**
 * Ends and removes what a check left behind whose process died in the middle of it. To be called before a check can run:
 * one in progress looks just the same.
 */
export async function endInterruptedChecks({
  directory,
  guardianPath,
}: Pick<Bench, 'directory' | 'guardianPath'>): Promise<void> {
  const interrupted = (await readdir(directory)).filter((name) => name.startsWith(prefix));
  for (const name of interrupted) {
    const path = join(directory, name);
    for (const scopeDir of await scopesBelow(path)) {
      await wakeGuardian({ directory: scopeDir, guardianPath }).catch(() => undefined);
      await endGuardian(scopeDir).catch(() => undefined);
    }
    await rm(path, { recursive: true, force: true });
  }
}

/** Those whose guardian came as far as its start receipt; one that did not has ended with its launcher. */
async function scopesBelow(path: string): Promise<readonly string[]> {
  const files = await readdir(path, { recursive: true });
  return files.filter((file) => basename(file) === 'start.json').map((file) => join(path, dirname(file)));
}

const nameOf = (error: unknown): string =>
  String((error as { code?: unknown })?.code ?? (error as Error)?.message ?? 'failed').slice(0, 100);
