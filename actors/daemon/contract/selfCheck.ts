/**
 * The containment battery of this host, run with the real guardian: process tricks, each with the receipts that it must
 * and must not leave (PROMO-06). It uses no actor and no store, so that `init` can run a part of it before there is a daemon.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterSilence } from '../../../pty/launch/silence.ts';
import type { ContainmentCheckView } from '../api/views.ts';
import { battery, type Subset } from './battery.ts';
import { type Bench, endGuardian } from './bench.ts';

export interface SelfCheckReport {
  readonly subset: Subset;
  readonly passed: boolean;
  readonly checks: readonly ContainmentCheckView[];
}

export interface SelfCheckRequest extends Omit<Bench, 'atEnd'> {
  readonly subset: Subset;
  /** Bounds each check; only a test is less patient. */
  readonly checkMs?: number;
}

const prefix = 'selfcheck-';

/** More would measure each other: a check is a handful of processes that are started and awaited. */
const atOnce = 2;

/** A check takes less than a second; without a bound one that hangs would keep the report from everybody. */
const longestMs = 15_000;

/** Runs every check even if one fails. `directory` is a private place of ours; what is made in it is removed again. */
export async function runSelfCheck({
  subset,
  checkMs = longestMs,
  ...bench
}: SelfCheckRequest): Promise<SelfCheckReport> {
  const directory = await mkdtemp(join(bench.directory, prefix));
  const chosen = battery.filter((one) => subset === 'full' || one.subset === subset);
  const checks: ContainmentCheckView[] = [];
  const left = [...chosen.entries()];
  const runSome = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [place, one] = next;
      checks[place] = await run(one, { ...bench, directory: join(directory, one.id) }, checkMs);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, runSome));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return { subset, passed: checks.every(({ ok }) => ok), checks };
}

/** What the check has begun is over when this resolves, also when the check itself is stuck. */
async function run(
  { id, claim, check }: (typeof battery)[number],
  bench: Omit<Bench, 'atEnd'>,
  checkMs: number,
): Promise<ContainmentCheckView> {
  const begun = performance.now();
  const undoing: (() => unknown)[] = [];
  const failure = await bounded(check({ ...bench, atEnd: (undo) => void undoing.push(undo) }), checkMs).catch(nameOf);
  for (const undo of undoing.reverse()) await bounded(Promise.resolve().then(undo), checkMs).catch(() => undefined);
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

function bounded<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = afterSilence(ms, () => reject(new Error('it did not end in time')));
    work.then(resolve, reject).finally(callOff);
  });
}

/**
 * Ends and removes what a check left behind whose process died in the middle of it. To be called before a check can run:
 * one in progress looks just the same.
 */
export async function endInterruptedChecks(directory: string): Promise<void> {
  const interrupted = (await readdir(directory)).filter((name) => name.startsWith(prefix));
  for (const name of interrupted) {
    const path = join(directory, name);
    for (const { id } of battery) await endGuardian(join(path, id)).catch(() => {});
    await rm(path, { recursive: true, force: true });
  }
}

const nameOf = (error: unknown): string =>
  String((error as { code?: unknown })?.code ?? (error as Error)?.message ?? 'failed').slice(0, 100);
