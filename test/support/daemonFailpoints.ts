/** The daemon that can be killed or held at any step of a launch (test/daemon/fixtures/failingDaemon.ts). */
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleFixture } from './bundleFixture.ts';
import type { TestDaemon } from './daemon.ts';

export interface Failpoint {
  /** A point of a launch, or of the commits. */
  readonly at: string;
  /** The type of event that `after_journal_insert` is about, or the containment check whose guardian is meant. */
  readonly of?: string;
  /** The first of this point after `at`, of the same launch. */
  readonly next?: string;
  /** Which of the times that `at` is reached; 1 is the next. */
  readonly nth?: number;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
let program: string | undefined;

/** Bundled once per test file, and put in place in one step: another file may be starting it just now. */
export function failingDaemonCommand(): readonly string[] {
  if (program === undefined) {
    const directory = join(root, 'node_modules', '.cache', 'custody-tests');
    mkdirSync(directory, { recursive: true });
    const fresh = join(directory, `failingDaemon-${process.pid}.mjs`);
    bundleFixture('failingDaemon', fresh);
    program = join(directory, 'failingDaemon.mjs');
    renameSync(fresh, program);
  }
  return [process.execPath, program];
}

async function tell(daemon: TestDaemon, order: Record<string, unknown>): Promise<void> {
  daemon.process.child.stdin!.write(`${JSON.stringify(order)}\n`);
}

async function heard(daemon: TestDaemon, key: string): Promise<void> {
  for (;;) {
    const { value, done } = await daemon.process.lines.next();
    if (done) throw new Error(`the daemon ended without ${key}: ${daemon.process.stderr()}`);
    if (key in JSON.parse(value)) return;
  }
}

export interface Armed {
  /** Resolves when a launch has got there. */
  reached(): Promise<void>;
}

async function arm(daemon: TestDaemon, point: Failpoint, act: string): Promise<Armed> {
  await tell(daemon, { ...point, act });
  await heard(daemon, 'armed');
  return { reached: () => heard(daemon, 'reached') };
}

/** From now on the launch that gets there first takes the daemon with it. */
export const killAt = (daemon: TestDaemon, point: Failpoint): Promise<Armed> => arm(daemon, point, 'kill');

/** The launch that gets there first loses its guardian; the daemon goes on. */
export const killGuardianAt = (daemon: TestDaemon, point: Failpoint): Promise<Armed> =>
  arm(daemon, point, 'kill guardian');

/** The guardian of the launch that gets there first is stopped. */
export const stopGuardianAt = (daemon: TestDaemon, point: Failpoint): Promise<Armed> =>
  arm(daemon, point, 'stop guardian');

/** The commit that gets there first fails as on a full disk; the daemon and its store go on. */
export const refuseAt = (daemon: TestDaemon, point: Failpoint): Promise<Armed> => arm(daemon, point, 'refuse');

export interface Held extends Armed {
  letGo(): Promise<void>;
}

/** The launch that gets there first waits until it is let go; everything else goes on. */
export async function holdAt(daemon: TestDaemon, point: Failpoint): Promise<Held> {
  return { ...(await arm(daemon, point, 'hold')), letGo: () => tell(daemon, { go: true }) };
}
