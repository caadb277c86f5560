/** The four verifications without which nobody may call it ready (PROMO-08). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallArguments } from '../../../actors/daemon/api/contract.ts';
import { eventually, found } from '../../demo/expectation.ts';
import { exec, patienceMs, proved, workplace } from '../../drill/drill.ts';
import { killDaemon } from '../../drill/drills/daemonDies.ts';
import { ObserverPlace } from '../observerPlace.ts';
import { claim, type Eligibility, type Judgement, row, saidSafely, type Trying } from '../row.ts';
import { subject } from '../subject.ts';
import { noteToInstallation, predicted, watchedWorktree } from '../worktree.ts';

export interface Contract {
  readonly subset: string;
  readonly checks: number;
  readonly failed: readonly string[];
  readonly version: number;
  readonly doesNotCover: number;
}

async function contract({ installation }: Trying): Promise<Contract> {
  const { subset, checks, batteryVersion: version, doesNotCover } = await installation.call('contract.verify', {});
  const failed = checks.filter(({ ok }) => !ok).map(({ id }) => id);
  return { subset, checks: checks.length, failed, version, doesNotCover: doesNotCover.length };
}

export function judgeContract({ subset, checks, failed, version, doesNotCover }: Contract): Judgement {
  return {
    claims: [
      claim(
        `battery ${version}, ${subset}: ${checks - failed.length} of ${checks} claims hold`,
        subset === 'full' && checks > 0 && failed.length === 0,
      ),
      claim(`${doesNotCover} things that the contract does not cover are named`, doesNotCover > 0),
    ],
  };
}

type Change = Omit<CallArguments<'worktrees.authority'>, 'id'>;

const changed = ({ installation }: Trying, id: string, change: Change) =>
  installation.call('worktrees.authority', { id, ...change });

const refused = async ({ installation }: Trying, id: string, change: Change) =>
  (await installation.refusal('worktrees.authority', { id, ...change })).code;

/** What the common git directory says of who is in control; undefined where it says nothing. */
function recordedFor({ repository }: Trying, id: string): { readonly mode: string } | undefined {
  try {
    const text = readFileSync(join(repository, '.git', 'custody.json'), 'utf8');
    return (JSON.parse(text) as { generations?: Record<string, { readonly mode: string }> }).generations?.[id];
  } catch {
    return undefined;
  }
}

export interface Migration {
  /** Before anything was taken over. */
  readonly uncontrolled: readonly string[];
  readonly withoutEvidence: string;
  readonly whileTheirs: string;
  readonly before: { readonly authority: string; readonly epoch: number };
  readonly after: { readonly authority: string; readonly epoch: number; readonly evidence: number };
  readonly recordBefore: string;
  readonly recordAfter: string;
  readonly said: readonly Eligibility[];
}

async function migration(trying: Trying): Promise<Migration> {
  const { installation, interruption } = trying;
  const { generationId: id, path, authority, authorityEpoch } = await watchedWorktree(trying, 'migration');
  const uncontrolled = [
    (await installation.refusal('worktrees.close', { id })).code,
    (await installation.refusal('worktrees.seal', { id })).code,
    (await installation.refusal('worktrees.ticket', { id, executor: 'custody-remove' })).code,
  ];
  const withoutEvidence = await refused(trying, id, { change: 'migrate' });
  const process = await subject(trying, { cwd: path });
  await noteToInstallation(trying, ['bind', 'migration', '--worktree', path, '--pid', String(process.pid)]);
  const theirs = async () => (await installation.call('worktrees.show', { id })).noted[0]?.state;
  await eventually(interruption.signal, 'their run is known', async () => (await theirs()) === 'active');
  const evidence = ['acceptance/migration'];
  const whileTheirs = await refused(trying, id, { change: 'migrate', evidence });
  const recordBefore = recordedFor(trying, id)?.mode ?? 'nothing';
  const during = await predicted(trying, id, false);
  await process.end();
  await eventually(interruption.signal, 'their run has ended', async () => (await theirs()) === 'ended');
  const now = await changed(trying, id, { change: 'migrate', evidence });
  return {
    uncontrolled,
    withoutEvidence,
    whileTheirs,
    before: { authority, epoch: authorityEpoch },
    after: { authority: now.authority, epoch: now.authorityEpoch, evidence: now.evidence.length },
    recordBefore,
    recordAfter: recordedFor(trying, id)?.mode ?? 'nothing',
    said: [during],
  };
}

export function judgeMigration(seen: Migration): Judgement {
  const { uncontrolled, withoutEvidence, whileTheirs, before, after, recordBefore, recordAfter, said } = seen;
  const isTaken = after.authority === 'managed' && after.epoch === before.epoch + 1 && after.evidence > 0;
  return {
    claims: [
      claim(
        `watched only: close, seal and ticket ${[...new Set(uncontrolled)].join(', ')}`,
        before.authority === 'observe' && uncontrolled.every((code) => code === 'not_controller'),
      ),
      claim(
        `without evidence ${withoutEvidence}; with it, while a run of theirs is there, ${whileTheirs}; nothing recorded: ${recordBefore}`,
        withoutEvidence === 'migration_refused' && whileTheirs === 'migration_refused' && recordBefore === 'nothing',
      ),
      claim(
        `with evidence, afterwards: ${after.authority}, epoch ${before.epoch} to ${after.epoch}, recorded as ${recordAfter}`,
        isTaken && recordAfter === 'managed',
      ),
      saidSafely(said),
    ],
    eligibility: said,
  };
}

export interface Rollback {
  /** Asked while a scope is not proved, and again by the next daemon. */
  readonly asked: string;
  readonly waitsFor: readonly string[];
  readonly afterRestart: string;
  readonly launch: string;
  readonly settled: { readonly authority: string; readonly controller: string; readonly epoch: number };
  readonly before: number;
  readonly record: string;
  readonly seal: string;
  readonly said: readonly Eligibility[];
}

async function rollback(trying: Trying): Promise<Rollback> {
  const { installation, interruption } = trying;
  const place = await workplace(trying, 'rollback');
  const id = place.generationId;
  const run = await exec(trying, place, { script: 'setsid sleep 600 & true', onRootExit: 'wait' });
  await installation.call('runs.wait', { id: run.runId, until: 'ended', waitMs: patienceMs });
  const show = () => installation.call('worktrees.show', { id });
  const { authorityEpoch: before } = await show();
  await changed(trying, id, { change: 'handoff', to: 'legacy' });
  const { authority: asked, handoff } = await show();
  const launch = await exec(trying, place, { script: 'true' }).then(
    () => 'launched',
    ({ code }) => code as string,
  );
  await installation.call('worktrees.close', { id });
  await killDaemon(trying);
  await installation.start();
  const { authority: afterRestart } = await show();
  const said = await predicted(trying, id, false);
  await installation.call('runs.stop', { id: run.runId, graceMs: 0, waitMs: patienceMs });
  await eventually(interruption.signal, 'it is handed over', async () => (await show()).authority === 'observe');
  const { authority, controller, authorityEpoch: epoch } = await show();
  const { code: seal } = await installation.refusal('worktrees.seal', { id });
  return {
    ...{ asked, afterRestart, launch, before, seal },
    waitsFor: handoff?.waitsFor.map(({ code }) => code) ?? [],
    settled: { authority, controller, epoch },
    record: recordedFor(trying, id)?.mode ?? 'nothing',
    said: [said],
  };
}

export function judgeRollback(seen: Rollback): Judgement {
  const { asked, waitsFor, afterRestart, launch, settled, before, record, seal, said } = seen;
  const isHandedOver =
    settled.authority === 'observe' && settled.controller === 'legacy' && settled.epoch === before + 1;
  return {
    claims: [
      claim(
        `given back with a scope that is not proved: ${asked}, waiting for ${waitsFor.join(', ')}; a launch: ${launch}`,
        asked === 'quiescing' && waitsFor.includes('scope_unproved') && launch !== 'launched',
      ),
      claim(`closed, and the daemon killed: still ${afterRestart}`, afterRestart === 'quiescing'),
      claim(
        `proved: ${settled.authority}, controller ${settled.controller}, epoch ${before} to ${settled.epoch}, recorded as ${record}; a seal: ${seal}`,
        isHandedOver && record === 'nothing' && seal === 'not_controller',
      ),
      saidSafely(said),
    ],
    eligibility: said,
    convergence: { ended: 1, converged: isHandedOver ? 1 : 0 },
  };
}

export interface Retention {
  readonly removed: number;
  readonly isRunSame: boolean;
  /** Receipts of the run's scope that its journal still has, and whether the cited end is among its events. */
  readonly receipts: number;
  readonly hasEnd: boolean;
  readonly isRequestSame: boolean;
  readonly launches: number;
  /** A note from before, sent again. */
  readonly noteCounts: Readonly<Record<string, number>>;
  /** A checkpoint removes nothing of what lives. */
  readonly keptOfLiving: boolean;
}

async function retention(trying: Trying): Promise<Retention> {
  const { installation, scratch } = trying;
  const place = await workplace(trying, 'retention');
  const asked = { script: 'echo out; exit 3', requestId: 'acceptance-retention' };
  const run = await exec(trying, place, asked);
  await proved(trying, run.runId);
  const still = await exec(trying, place, { script: 'exec sleep 600' });
  const note = await oldNote(trying);
  const show = async () => JSON.stringify(await installation.call('runs.show', { id: run.runId }));
  const eventsOf = async (actor: string) => (await installation.call('events', { actor, limit: 1_000 })).events;
  const [before, history] = [await show(), await eventsOf(still.scopeId)];
  const { removed } = await installation.call('journal.checkpoint', {});
  const again = await exec(trying, place, asked);
  const shown = await installation.call('runs.show', { id: run.runId });
  const own = [...(await eventsOf(run.runId)), ...(await eventsOf(run.scopeId))];
  const voice = new ObserverPlace(trying, 'retention-again');
  const settings = { env: { CUSTODY_HOME: scratch.places.stateDir }, input: note };
  const { data } = await voice.observe(['ingest', '-'], settings);
  const kept = await eventsOf(still.scopeId);
  await installation.call('runs.stop', { id: still.runId, graceMs: 0, waitMs: patienceMs });
  const { runs } = await installation.call('runs.list', { goalId: place.goalId });
  return {
    removed: removed.events,
    isRunSame: (await show()) === before,
    receipts: own.filter(({ type }) => type === 'guardian.exitReceipt').length,
    hasEnd: own.some(({ eventId }) => eventId === found(shown.end, 'an end').eventId),
    isRequestSame: again.runId === run.runId,
    launches: runs.length,
    noteCounts: { ...data?.counts },
    keptOfLiving: history.every(({ eventId }) => kept.some((event) => event.eventId === eventId)),
  };
}

/** Of a run that has ended, so that its history may go; as a line. */
async function oldNote(trying: Trying): Promise<string> {
  const { installation, interruption, scratch } = trying;
  const voice = new ObserverPlace(trying, 'retention-voice');
  const process = await subject(trying);
  await voice.note('bind', 'retention', '--pid', String(process.pid), '--producer', 'retention');
  const line = voice.spooled('retention').join('');
  await voice.observe(['ingest', '-'], { env: { CUSTODY_HOME: scratch.places.stateDir }, input: line });
  await process.end();
  const bound = async () => (await installation.call('observe.status', {})).runs.bound;
  await eventually(interruption.signal, 'its end is seen', async () => (await bound()) === 0);
  return line;
}

export function judgeRetention(seen: Retention): Judgement {
  const { removed, isRunSame, receipts, hasEnd, isRequestSame, launches, noteCounts, keptOfLiving } = seen;
  const isRepeat = (noteCounts.duplicate ?? 0) + (noteCounts.noop ?? 0) === 1 && (noteCounts.changed ?? 1) === 0;
  return {
    claims: [
      claim(
        `a checkpoint removed ${removed} events; a proved run shows ${isRunSame ? 'the same' : 'something else'}`,
        removed > 0 && isRunSame,
      ),
      claim(
        `${receipts} exit receipt of it in the journal, the event of its end ${hasEnd ? 'too' : 'not'}; of what lives ${keptOfLiving ? 'nothing' : 'something'} went`,
        receipts === 1 && hasEnd && keptOfLiving,
      ),
      claim(
        `its request sent again: ${isRequestSame ? 'the same run' : 'another run'}, ${launches} launches of 2`,
        isRequestSame && launches === 2,
      ),
      claim(
        `an old note sent again: ${noteCounts.changed ?? 'not'} changed, ${noteCounts.duplicate ?? 'not'} duplicate`,
        isRepeat,
      ),
    ],
  };
}

export const verificationRows = [
  row('containment_contract', contract, judgeContract),
  row('migration', migration, judgeMigration),
  row('rollback', rollback, judgeRollback),
  row('retention', retention, judgeRetention),
];
