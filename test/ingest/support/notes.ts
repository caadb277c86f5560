/** Notes of a launcher, and a host that takes them in, on a real store. */
import { onTestFinished } from 'vitest';
import { createHost } from '../../../actors/host/host.ts';
import { Intake } from '../../../actors/ingest/intake.ts';
import { runIdOf } from '../../../actors/ingest/names.ts';
import { placingIn } from '../../../actors/ingest/placing.ts';
import { storeSink } from '../../../actors/ingest/sink.ts';
import { createLinuxAdapter } from '../../../actors/observe/linux/adapter.ts';
import { createSystemClock } from '../../../actors/observe/linux/clock.ts';
import { committed } from '../../../actors/runtime/actorAccess.ts';
import { type Note, noteSchema, type Place } from '../../../machines/note.ts';
import { protocol } from '../../../machines/protocol.ts';
import type { Store } from '../../../persistence/store.ts';
import { newStore } from '../../persistence/support/temporaryStore.ts';

type Distributed<T> = T extends Note ? Omit<T, 'v' | 'producer' | 'stream' | 'seq' | 'at'> : never;
export type Said = Distributed<Note>;

export const bootId = 'b7b2a1f0-0000-4000-8000-000000000001';
export const place: Place = {
  path: '/srv/tree',
  dev: '2049',
  ino: '77',
  born: '5',
  gitdir: '/srv/.git/worktrees/tree',
};
export const job = { pid: 4_242, start: '987654', uid: 1_000, pidns: '4026531836', timens: '4026531834', pidfs: '91' };

export const reserve = (run = 'job-1', rest: Partial<Extract<Said, { type: 'run.reserve' }>> = {}): Said => ({
  type: 'run.reserve',
  run,
  label: 'a job',
  place,
  retryOf: null,
  ...rest,
});
export const bind = (run = 'job-1', rest: Partial<Extract<Said, { type: 'run.bind' }>> = {}): Said => ({
  type: 'run.bind',
  run,
  process: job,
  place: null,
  ...rest,
});
export const put = (run = 'job-1', where = place): Said => ({ type: 'run.place', run, place: where });
export const exit = (run = 'job-1', code: number | null = 0, signal: number | null = null): Said => ({
  type: 'run.exit',
  run,
  code,
  signal,
});

export interface Voice {
  readonly producer?: string;
  readonly stream?: string;
}

/** Numbers what is said as one producer does. */
export function noting({ producer = 'shell', stream = 'a'.repeat(32) }: Voice = {}) {
  let seq = 0;
  return (said: Said, number?: number): Note => {
    seq = number ?? seq + 1;
    const at = { wallMs: 1_000_000 + seq, monoMs: seq, bootId };
    return noteSchema.parse({ v: 1, producer, stream, seq, at, ...said });
  };
}

export function testIntake(store: Store = newStore()) {
  const host = createHost({ ...protocol, store, clock: createSystemClock() });
  onTestFinished(() => host.close());
  const { installationId } = store;
  const adapter = createLinuxAdapter({ installationId: installationId as never });
  onTestFinished(() => adapter.close());
  const clock = createSystemClock();
  const intake = new Intake({
    ...{ host, installationId, adapter, clock },
    placingOf: placingIn({ host, store, installationId, clock }),
  });
  const idOf = (run = 'job-1', producer = 'shell') => runIdOf({ installationId, producer, run });
  return {
    store,
    host,
    intake,
    sink: storeSink({ host, store, intake, clock }),
    adapter,
    idOf,
    run: (run = 'job-1', producer = 'shell') => committed(host, 'run', idOf(run, producer)),
    generations: () => host.list('worktreeGeneration').map(({ id }) => committed(host, 'worktreeGeneration', id)!),
    /** What became of each, in short. */
    async take(notes: readonly Note[]): Promise<readonly string[]> {
      return (await intake.take(notes)).map(({ outcome, reason }) => (reason ? `${outcome} ${reason}` : outcome));
    },
  };
}
