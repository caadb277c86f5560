/** What is said of a launch, from its preparation to the release, and of launches that come to nothing (C.11). */
import type { Payload } from '../../../machines/events/catalogue.ts';
import { boot, identityBound, type Launch, processOf, stranger } from '../evidence.ts';
import { coverageOf, isBeforeRelease, isReserved, one, terminationOf } from '../facts.ts';
import { type Due, type Records, say, type Told, type Word } from '../model.ts';
import { type Forest, treeOf } from '../tree.ts';

export interface ScopeWords {
  readonly launch: Launch;
  readonly runId?: string;
}

export const word = <T>(name: string, told: Told, rest: Partial<Word<T>> = {}): Word<T> => ({
  name,
  by: 'daemon',
  ...rest,
  ...once(told),
});

/** The same list each time, so that it is spelt once. */
const once = (told: Told) => {
  const call = [told];
  return { call: () => call };
};

/** What is due by where the coverage of a scope stands. */
export const dueByCoverage =
  (scopeId: string, accepts: (coverage: string, records: Records) => boolean) =>
  (records: Records): Due => {
    const scope = one(records, 'executionScope', scopeId);
    return scope !== null && accepts(coverageOf(scope), records) ? 'accepted' : 'refused';
  };

const isIdle = (records: Records, scopeId: string): boolean => {
  const scope = one(records, 'executionScope', scopeId);
  return scope !== null && terminationOf(scope) === 'idle';
};

export function launchWords<T extends Forest>({ launch, runId }: ScopeWords): readonly Word<T>[] {
  const { scopeId: id, guardian, workload, slots } = launch;
  const released = say(id, 'launch.releaseCommitted', {});
  const bindAndRelease =
    runId === undefined ? [released] : [say(runId, 'identity.bound', identityBound(workload)), released];
  return [
    word(`${id}: prepared`, say(id, 'launch.prepared', { slots }), {
      due: dueByCoverage(
        id,
        (coverage, records) => coverage === 'requested' && isIdle(records, id) && !isExternal(records, id),
      ),
    }),
    word(`${id}: not started`, say(id, 'launch.notStarted', { errno: 'EAGAIN', phase: 'spawn' }), {
      when: (truth) => treeOf(truth, id).guardian === 'none',
      due: dueByCoverage(id, (coverage) => coverage === 'requested' || coverage === 'launching'),
    }),
    word(`${id}: abandoned`, say(id, 'launch.abandoned', { gate: 'never_opened', reason: 'drained' }), {
      due: (records) => abandonedDue(records, id),
    }),
    word(`${id}: attached`, say(id, 'guardian.attached', { guardian, workload, bootId: boot }), {
      when: (truth) => treeOf(truth, id).guardian !== 'none',
      due: dueByCoverage(id, (coverage) => coverage === 'launching'),
    }),
    {
      name: `${id}: bound and released`,
      by: 'daemon',
      call: () => bindAndRelease,
      due: dueByCoverage(
        id,
        (coverage, records) => coverage === 'gated' && isIdle(records, id) && isToBeBound(records, runId),
      ),
    },
    word(`${id}: the release may not have arrived`, say(id, 'launch.releaseUncertain', { errno: 'EPIPE' }), {
      due: dueByCoverage(id, (coverage) => coverage === 'live'),
    }),
  ];
}

const isExternal = (records: Records, scopeId: string): boolean =>
  one(records, 'executionScope', scopeId)?.context.kind === 'external';

const isToBeBound = (records: Records, runId: string | undefined): boolean => {
  const run = runId === undefined ? null : one(records, 'run', runId);
  return run === null || isReserved(run) || run.context.identity !== null;
};

/** Whatever its guardian says, an image that was released may have run; before that nothing has (GRD-07). */
function abandonedDue(records: Records, scopeId: string): Due {
  const scope = one(records, 'executionScope', scopeId);
  if (scope === null || scope.context.released !== 'no' || scope.context.kind === 'external') return 'refused';
  return isBeforeRelease(scope) ? 'accepted' : 'any';
}

/** Words about the run of a scope: its admission, and identities that are not the one. */
export function bindingWords<T extends Forest>(runId: string, launch: Launch): readonly Word<T>[] {
  const cancelled = (scopeId: string) =>
    say(runId, 'admission.cancelled', { gate: 'never_opened', scopeId, proofEventId: 'e' });
  return [
    word(`${runId}: admission uncertain`, say(runId, 'admission.uncertain', { reason: 'launcher_lost' }), {
      due: (records) => (isRunReserved(records, runId) ? 'accepted' : 'refused'),
    }),
    word(
      `${runId}: unverified process bound`,
      say(runId, 'identity.bound', identityBound(stranger, { verified: false })),
      {
        due: 'refused',
      },
    ),
    word(
      `${runId}: another process bound`,
      say(runId, 'identity.bound', identityBound(processOf(201))),
      // Binding and release are one commit (ruling 6), so by itself it can only come when there is an identity already.
      { when: (truth) => treeOf(truth, launch.scopeId).ran, due: 'refused' },
    ),
    word(`${runId}: the same process bound again`, say(runId, 'identity.bound', identityBound(launch.workload)), {
      when: (truth) => treeOf(truth, launch.scopeId).ran,
      due: (records) => (one(records, 'run', runId)?.matches({ lifecycle: 'bound' }) ? 'accepted' : 'refused'),
    }),
    word(`${runId}: gate of another scope`, cancelled('S9'), { due: 'refused' }),
    word(
      `${runId}: another scope proved`,
      say(runId, 'scope.exitProved', {
        scopeId: 'S9',
        proofKind: 'own_receipt',
        proofEventId: 'e',
      } as Payload<'scope.exitProved'>),
      { due: 'refused' },
    ),
  ];
}

const isRunReserved = (records: Records, runId: string): boolean => {
  const run = one(records, 'run', runId);
  return run !== null && isReserved(run);
};
