/** What is said of worker incarnations and to the fence that orders their replacement, by workers, drivers, clocks and impostors. */

import type { AnyMachineSnapshot } from 'xstate';
import type { SnapshotOf } from '../../../actors/runtime/actorAccess.ts';
import { boot, digestOf, laterBoot, processOf, scopeRequested, stranger } from '../evidence.ts';
import { all, isOver, one } from '../facts.ts';
import { type Due, type Records, say, type Told, type Word } from '../model.ts';
import { type Forest, isWriterAlive, treeOf } from '../tree.ts';
import { word } from './launching.ts';

type Worker = SnapshotOf['workerIncarnation'];

/** An incarnation by its number: `K1` in the scope `S1`. */
export const incarnation = (number: number) => ({ incarnationId: `K${number}`, scopeId: `S${number}` });
const tokenOf = (number: number): string => digestOf(String(number));
const processOfWorker = (number: number) => processOf(number * 100 + 1);
const retryAt = { monoMs: 9_000, bootId: boot };

export const workerRequested = (number: number) => ({
  ...incarnation(number),
  runtimeId: 'X1',
  registrationId: `M${number}`,
  launchTokenHash: tokenOf(number),
  targetId: 'target-1',
  nodeId: 'N1',
  startupMs: 10_000,
  silenceMs: 30_000,
  requestedAt: { monoMs: 5_000, bootId: boot },
});

const tickOf = (number: number, seq: number, rest: object = {}) => ({
  incarnationId: `K${number}`,
  runtimeId: 'X1',
  registrationId: `M${number}`,
  launchTokenHash: tokenOf(number),
  process: processOfWorker(number),
  targetId: 'target-1',
  nodeId: 'N1',
  seq,
  sampledAt: { monoMs: 6_000 + seq, bootId: boot },
  completedCycle: true,
  isRegisteredPeer: true,
  ...rest,
});

const registration = (number: number, rest: object = {}) => ({
  launchTokenHash: tokenOf(number),
  registrationId: `M${number}`,
  scopeId: `S${number}`,
  process: processOfWorker(number),
  isRegisteredPeer: true,
  ...rest,
});

const isIn = (worker: Worker | null, ...states: readonly string[]): worker is Worker =>
  worker !== null && states.includes(String(worker.value));

/** The same events each time, so that each is spelt once. */
const kept = <K, V extends object>(make: (key: K) => V): ((key: K) => V) => {
  const known = new Map<string, V>();
  return (key) => {
    const name = JSON.stringify(key);
    const value = known.get(name) ?? make(key);
    known.set(name, value);
    return value;
  };
};

/** Said by a process while it lives, and perhaps told later. */
const hasLived =
  <T extends Forest>(number: number) =>
  (truth: T): boolean =>
    treeOf(truth, `S${number}`).ran;

export function workerWords<T extends Forest>(number: number): readonly Word<T>[] {
  const id = `K${number}`;
  const of = (records: Records): Worker | null => one(records, 'workerIncarnation', id);
  const by = `worker ${id}`;
  const tick = kept((seq: number): readonly Told[] => [say(id, 'scheduler.tick', tickOf(number, seq))]);
  const lie = (name: string, told: Told): Word<T> =>
    word<T>(`${id}: ${name}`, told, { by: 'impostor', due: 'refused' });
  return [
    word(`${id}: registers`, say(id, 'worker.registered', registration(number)), {
      by,
      when: hasLived<T>(number),
      due: (records) => (isIn(of(records), 'launching') ? 'accepted' : 'refused'),
    }),
    {
      name: `${id}: ticks`,
      by,
      when: hasLived<T>(number),
      call: (records) => {
        const worker = of(records);
        return worker === null || worker.context.tick.seq > 1 ? undefined : tick(worker.context.tick.seq + 1);
      },
      due: (records) => tickDue(of(records)),
    },
    word(`${id}: launch failed`, say(id, 'worker.launchFailed', { reasonCode: 'eagain' }), {
      when: (truth) => treeOf(truth, `S${number}`).guardian === 'none',
    }),
    word(`${id}: stop requested`, say(id, 'worker.stopRequested', { reason: 'recovery', fenceId: 'X1' }), {
      due: (records) => (of(records) === null ? 'refused' : 'accepted'),
    }),
    ...(number === 1 ? [...impostorWords<T>(lie, number), ...targetWords<T>(id), ...deadlineWords<T>(id)] : []),
  ];
}

function tickDue(worker: Worker | null): Due {
  const isForTarget = worker?.context.targetId === 'target-1';
  return isForTarget && isIn(worker, 'starting', 'healthy', 'suspect') ? 'accepted' : 'refused';
}

function impostorWords<T>(lie: (name: string, told: Told) => Word<T>, number: number): readonly Word<T>[] {
  const id = `K${number}`;
  const ticks: readonly (readonly [string, object])[] = [
    ['of another process', { process: stranger }],
    ['with an old token', { launchTokenHash: tokenOf(9) }],
    ['of another registration', { registrationId: 'M9' }],
    ['of another boot', { process: { ...processOfWorker(number), bootId: laterBoot } }],
    ['of a child that has the token', { isRegisteredPeer: false }],
    ['for an earlier target', { targetId: 'target-0' }],
  ];
  return [
    ...ticks.map(([what, bent]) => lie(`tick ${what}`, say(id, 'scheduler.tick', tickOf(number, 9, bent)))),
    lie(
      'registers with another token',
      say(id, 'worker.registered', registration(number, { launchTokenHash: tokenOf(9) })),
    ),
    lie('a child registers', say(id, 'worker.registered', registration(number, { isRegisteredPeer: false }))),
    lie(
      'another scope proved',
      say(id, 'scope.exitProved', { scopeId: 'S9', proofKind: 'own_receipt', proofEventId: 'e' }),
    ),
    lie('another scope lost', say(id, 'scope.unverified', { scopeId: 'S9', reason: 'guardian_gone' })),
  ];
}

function targetWords<T>(id: string): readonly Word<T>[] {
  const changed = (targetId: string, monoMs: number) =>
    say(id, 'target.changed', { targetId, changedAt: { monoMs, bootId: boot } });
  const due =
    (targetId: string) =>
    (records: Records): Due => {
      const worker = one(records, 'workerIncarnation', id);
      const isOther = worker !== null && worker.context.targetId !== targetId;
      return isOther && isIn(worker, 'starting', 'healthy', 'suspect') ? 'accepted' : 'refused';
    };
  return [
    word(`${id}: another target`, changed('target-2', 8_000), { by: 'operator', due: due('target-2') }),
    word(`${id}: the first target`, changed('target-1', 9_000), { by: 'operator', due: due('target-1') }),
  ];
}

function deadlineWords<T>(id: string): readonly Word<T>[] {
  const reached = (kind: string, seq: number, monoMs: number) =>
    say(id, 'deadline.reached', {
      deadlineId: `${kind}:${id}:${seq}:${monoMs}`,
      kind,
      basisActivitySeq: seq,
      bootId: boot,
      monoMs,
    });
  return [
    word(`${id}: startup is due`, reached('startup', 0, 15_000), {
      by: 'clock',
      isClock: true,
      due: (records) => startupDue(records, id),
    }),
    ...[1, 2].map((seq) =>
      word<T>(`${id}: silence since tick ${seq} is due`, reached('silence', seq, 36_000 + seq), {
        by: 'clock',
        isClock: true,
        due: (records) => {
          const worker = one(records, 'workerIncarnation', id);
          return isIn(worker, 'healthy') && worker.context.tick.seq === seq ? 'accepted' : 'refused';
        },
      }),
    ),
  ];
}

/** Armed at the request and for no tick; whoever has been given another target since starts anew (PTY-09). */
function startupDue(records: Records, id: string): Due {
  const worker = one(records, 'workerIncarnation', id);
  const isFirst = worker !== null && worker.context.tick.seq === 0 && worker.context.since.monoMs === 5_000;
  return isFirst && isIn(worker, 'starting') ? 'accepted' : 'refused';
}

/** What a look at the records says of earlier incarnations: their scopes that are not over. */
export const unprovedOf = (records: Records): readonly string[] =>
  all(records, 'executionScope').flatMap(([id, scope]) => (isOver(scope) ? [] : [id]));

const liveWorkersOf = (records: Records): number =>
  all(records, 'workerIncarnation').filter(([, worker]) => !isIn(worker, 'exited')).length;

const toFence = kept((said: readonly [Told['type'], object]): readonly Told[] => [say('X1', said[0], said[1])]);

const rescanOf = (records: Records) => {
  const scopeIds = unprovedOf(records);
  return { rescanned: true, pending: scopeIds.length, unverified: 0, scopeIds };
};

/** Each incarnation is launched in one commit with its scope (C.11, rule 2). */
const launchCall = kept(([number, payload]: readonly [number, object]): readonly Told[] => [
  say('X1', 'replacement.launched', { ...payload, ...incarnation(number), workerEnabled: true }),
  say(`S${number}`, 'scope.requested', scopeRequested(`S${number}`)),
  say(`K${number}`, 'worker.requested', workerRequested(number)),
]);

const fenceStateOf = (records: Records): string => String((records.actors.X1 as AnyMachineSnapshot).value);

export function fenceWords<T>(numbers: readonly number[]): readonly Word<T>[] {
  const driver = 'daemon';
  const started = (old: object | null, liveWorkers: number) =>
    toFence(['recovery.started', { old, liveWorkers, reason: 'silent' }]);
  return [
    ...numbers.flatMap((number): Word<T>[] => [
      {
        name: `recovery of K${number} begins`,
        by: driver,
        call: (records) =>
          records.actors[`K${number}`] === null ? undefined : started(incarnation(number), liveWorkersOf(records)),
      },
      {
        name: `K${number} is launched in its place`,
        by: driver,
        call: (records) =>
          records.actors[`K${number}`] === null ? launchCall([number, rescanOf(records)]) : undefined,
        due: (records) =>
          fenceStateOf(records) === 'launchPermitted' && unprovedOf(records).length === 0 ? 'accepted' : 'refused',
      },
      word(`a tick of K${number} reaches the fence`, say('X1', 'scheduler.tick', tickOf(number, 5)), {
        by: 'impostor',
        due: (records) => (isAwaited(records, number) ? 'any' : 'refused'),
      }),
      word(
        `K${number} is launched again without leave`,
        say('X1', 'replacement.launched', { ...nobody, ...incarnation(number), workerEnabled: false }),
        {
          by: driver,
          due: 'refused',
        },
      ),
    ]),
    {
      name: 'the one that was to be replaced is launched in its own place',
      by: driver,
      call: (records) => {
        const old = one(records, 'recoveryFence', 'X1')?.context.old;
        const payload = { ...nobody, workerEnabled: true };
        return old
          ? toFence(['replacement.launched', { ...payload, incarnationId: old.incarnationId, scopeId: old.scopeId }])
          : undefined;
      },
      due: 'refused',
    },
    { name: 'a recovery of nobody begins', by: driver, call: (records) => started(null, liveWorkersOf(records)) },
    {
      name: 'everything is looked at',
      by: driver,
      call: (records) => toFence(['ownership.rescanned', { ...rescanOf(records), retryAt }]),
    },
    word('nothing could be looked at', say('X1', 'ownership.rescanned', { ...nobody, rescanned: false, retryAt }), {
      by: driver,
    }),
    word('the recovery fails', say('X1', 'recovery.failed', { phase: 'rescanning', reason: 'x', retryAt }), {
      by: driver,
    }),
    word('the recovery is tried again', say('X1', 'recovery.retry', { reason: 'x' }), {
      by: 'operator',
      due: (records) => (fenceStateOf(records) === 'refused' ? 'accepted' : 'refused'),
    }),
    word('a stranger is settled', say('X1', 'worker.scopeSettled', { scopeId: 'S9', proofEventId: 'e' }), {
      by: 'forger',
      due: (records) => (fenceStateOf(records) === 'idle' ? 'accepted' : 'refused'),
    }),
  ];
}

const nobody = { rescanned: true, pending: 0, unverified: 0, scopeIds: [] };

const isAwaited = (records: Records, number: number): boolean =>
  fenceStateOf(records) === 'awaitingTick' &&
  one(records, 'recoveryFence', 'X1')?.context.replacement?.incarnationId === `K${number}`;

/** Behind a shut gate nobody works yet. */
export const isWorkerAlive = <T extends Forest>(truth: T, number: number): boolean =>
  isWriterAlive(treeOf(truth, `S${number}`));
