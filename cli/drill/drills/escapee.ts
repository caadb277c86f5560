/** D1: the root ends, and a child in a session of its own does not. */
import type { BlockerView } from '../../../actors/daemon/api/views.ts';
import { eventually, expectThat, found } from '../../demo/expectation.ts';
import type { Workplace } from '../../demo/stage.ts';
import {
  type Drill,
  type Drilling,
  type Exec,
  exec,
  patienceMs,
  proved,
  scopeOf,
  sizeOf,
  workplace,
} from '../drill.ts';

/** It ignores hang-up, holds the streams open and appends a line every 100 ms; the root leaves when it is there. */
const script = `mkfifo "$2"; setsid sh -c 'trap "" HUP; echo tick >> "$1"; echo up > "$2"
while sleep 0.1; do echo tick >> "$1"; done' sh "$1" "$2" & read line < "$2"; exit 0`;

interface Escaped {
  readonly place: Workplace;
  readonly run: Exec;
  readonly ticks: string;
}

async function escaped(drilling: Drilling, onRootExit: 'wait' | 'terminate'): Promise<Escaped> {
  const place = await workplace(drilling, 'the escapee');
  const ticks = drilling.file('ticks');
  const run = await exec(drilling, place, { script, operands: [ticks, drilling.file('up')], onRootExit });
  return { place, run, ticks };
}

/** Several of its own ticks. */
const watchedMs = 400;

async function isSilent(ticks: string): Promise<string> {
  const before = await sizeOf(ticks);
  await new Promise((resolve) => setTimeout(resolve, watchedMs));
  const after = await sizeOf(ticks);
  expectThat(before === after, 'nobody writes any more', { before, after });
  return `nothing more was written in ${watchedMs} ms`;
}

async function waits(drilling: Drilling): Promise<readonly string[]> {
  const { installation, interruption } = drilling;
  const { place, run, ticks } = await escaped(drilling, 'wait');
  const ended = await installation.call('runs.wait', { id: run.runId, until: 'ended', waitMs: patienceMs });
  const scope = await scopeOf(drilling, run.scopeId);
  const isHeld = scope.assessment.state === 'live' && scope.holdsSlot && !scope.receipts.exit;
  expectThat(ended.result?.code === 0 && isHeld, 'the root has ended and its scope is live', scope);
  const { capture } = await installation.call('runs.show', { id: run.runId });
  const stdout = found(
    capture.find(({ stream }) => stream === 'stdout'),
    'a captured stream',
  );
  expectThat(!stdout.complete && /held open by pid \d+/.test(stdout.reason ?? ''), 'the output is held open', stdout);
  await installation.call('worktrees.close', { id: place.generationId });
  const refusal = await installation.refusal('worktrees.seal', { id: place.generationId });
  const blockers = (refusal.details?.blockers ?? []) as readonly BlockerView[];
  const holder = blockers.find(({ scopeId }) => scopeId === run.scopeId)?.holders?.[0];
  expectThat(refusal.code === 'seal_refused' && holder !== undefined, 'the seal is refused for its holder', refusal);
  const size = await sizeOf(ticks);
  await eventually(interruption.signal, 'it works on', async () => (await sizeOf(ticks)) !== size);
  const stopped = await installation.call('runs.stop', { id: run.runId, graceMs: 0, waitMs: patienceMs });
  expectThat(stopped.assessment.state === 'exited', 'a stop ends it with proof', stopped);
  return [
    `root: exit 0; scope live: ${scope.summary}`,
    `output not complete: ${stdout.reason}`,
    `seal refused (exit ${refusal.exitCode}), held by pid ${holder.pid}; it worked on`,
    `stopped: ${stopped.outcome}; ${await isSilent(ticks)}`,
  ];
}

async function terminates(drilling: Drilling): Promise<readonly string[]> {
  const { installation } = drilling;
  const { place, run, ticks } = await escaped(drilling, 'terminate');
  const { result, scope } = await proved(drilling, run.runId);
  const isProved = result?.code === 0 && scope?.state === 'exited' && scope.proof === 'own_receipt';
  expectThat(isProved, 'it ends in proof by itself, with the status of its root', { result, scope });
  const silence = await isSilent(ticks);
  await installation.call('worktrees.close', { id: place.generationId });
  const { lifecycle } = await installation.call('worktrees.seal', { id: place.generationId });
  expectThat(lifecycle === 'sealed', 'its worktree can be sealed', lifecycle);
  return ['root: exit 0; scope proved by its own receipt', silence, 'worktree sealed'];
}

async function cancelled(drilling: Drilling): Promise<readonly string[]> {
  const { installation } = drilling;
  const { place, run, ticks } = await escaped(drilling, 'wait');
  await installation.call('runs.wait', { id: run.runId, until: 'ended', waitMs: patienceMs });
  const { status, scopes } = await installation.call('goals.cancel', { id: place.goalId, waitMs: patienceMs });
  const isGone = scopes.length === 1 && scopes[0]!.assessment.state === 'exited';
  expectThat(status === 'cancelled' && isGone, 'the cancelled Goal has nobody left', { status, scopes });
  return ['Goal cancelled, scope proved to be gone', await isSilent(ticks)];
}

export const escapeeDrills: readonly Drill[] = [
  { name: 'D1a-wait', title: 'the root ends, its child does not, and nothing is given away', run: waits },
  { name: 'D1a', title: 'the root ends, and what it left is ended with proof', run: terminates },
  { name: 'D1b', title: 'a cancelled Goal leaves nobody behind', run: cancelled },
];
