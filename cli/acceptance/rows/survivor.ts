/** FAULT-11: the root of a run has ended and a child of it works on; and the same with a run that somebody else launched. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually, found } from '../../demo/expectation.ts';
import { childrenOf, killAtOnce, living } from '../../demo/witness.ts';
import { exec, patienceMs, scopeOf, workplace } from '../../drill/drill.ts';
import { claim, type Eligibility, type Judgement, row, type Trying } from '../row.ts';
import { noteToInstallation, predicted, watchedWorktree } from '../worktree.ts';

export interface Survivor {
  readonly root: number | null;
  /** What is said of the scope while the child lives, and after it was ended. */
  readonly scope: string;
  readonly scopeAfter: string;
  readonly refusal: { readonly code: string; readonly exitCode: number; readonly holders: number };
  readonly whileAlive: Eligibility & { readonly blockers: readonly string[] };
  readonly afterwards: Eligibility;
  readonly sealed: Eligibility;
  /** The parent that was noted has ended, and its child works in the worktree. */
  readonly noted: Eligibility & { readonly blockers: readonly string[]; readonly run: string };
}

/** A session of its own, deaf to hang-ups; the root leaves when it is there. */
const script = 'setsid sh -c "trap \'\' HUP; exec sleep 600" & echo $! > "$1"; exit 0';

async function observe(trying: Trying): Promise<Survivor> {
  const { installation } = trying;
  const place = await workplace(trying, 'the survivor');
  const run = await exec(trying, place, { script, operands: [trying.file('child')], onRootExit: 'wait' });
  const ended = await installation.call('runs.wait', { id: run.runId, until: 'ended', waitMs: patienceMs });
  const { assessment, members } = await scopeOf(trying, run.scopeId);
  const pids = (members ?? []).map(({ pid }) => pid);
  await installation.call('worktrees.close', { id: place.generationId });
  const whileAlive = await predicted(trying, place.generationId, false);
  const { code, exitCode, details } = await installation.refusal('worktrees.seal', { id: place.generationId });
  const blockers = (details?.blockers ?? []) as readonly { readonly holders?: readonly unknown[] }[];
  const holders = blockers.reduce((sum, blocker) => sum + (blocker.holders?.length ?? 0), 0);
  const stopped = await installation.call('runs.stop', { id: run.runId, graceMs: 0, waitMs: patienceMs });
  const isNobodyLeft = pids.length > 0 && (await living(pids)).length === 0;
  const afterwards = await predicted(trying, place.generationId, isNobodyLeft);
  const { lifecycle } = await installation.call('worktrees.seal', { id: place.generationId });
  return {
    root: ended.result?.code ?? null,
    scope: assessment.state,
    scopeAfter: stopped.assessment.state,
    refusal: { code, exitCode, holders },
    whileAlive,
    afterwards,
    sealed: { eligible: lifecycle === 'sealed', justified: isNobodyLeft },
    noted: await noted(trying),
  };
}

async function noted(trying: Trying): Promise<Survivor['noted']> {
  const { installation, interruption, atEnd } = trying;
  const { generationId: id, path } = await watchedWorktree(trying, 'survivor');
  const parent = spawn('sh', ['-c', 'sleep 600 & wait'], { cwd: path, stdio: 'ignore' });
  await once(parent, 'spawn');
  const exited = once(parent, 'exit');
  const childOf = async () => (await childrenOf(parent.pid!))[0];
  await eventually(interruption.signal, 'it has a child', async () => (await childOf()) !== undefined);
  const child = found(await childOf(), 'a child');
  atEnd(() => killAtOnce(child));
  await noteToInstallation(trying, ['bind', 'survivor', '--worktree', path, '--pid', String(parent.pid)]);
  const ofIt = async () => (await installation.call('runs.list', {})).runs.find((run) => run.generationId === id);
  await eventually(interruption.signal, 'the run is bound', async () => (await ofIt())?.state === 'bound');
  await killAtOnce(parent.pid!);
  await exited;
  await eventually(interruption.signal, 'the end is seen', async () => (await ofIt())?.state === 'ended');
  const isNobodyLeft = (await living([child])).length === 0;
  return { ...(await predicted(trying, id, isNobodyLeft)), run: (await ofIt())?.state ?? 'not there' };
}

export function judgeSurvivor(seen: Survivor): Judgement {
  const { root, scope, scopeAfter, refusal, whileAlive, afterwards, sealed, noted: other } = seen;
  const said = [whileAlive, afterwards, sealed, other];
  const isRefused = refusal.code === 'seal_refused' && refusal.holders > 0;
  return {
    claims: [
      claim(`root ended with ${root}; its scope is ${scope} while a child lives`, root === 0 && scope === 'live'),
      claim(
        `seal refused (exit ${refusal.exitCode}), ${refusal.holders} holders named; not reclaimable: ${whileAlive.blockers.join(', ')}`,
        isRefused && !whileAlive.eligible && whileAlive.blockers.includes('scope_unproved'),
      ),
      claim(
        `a parent that was noted is ${other.run}, its child works there: ${other.eligible ? 'reclaimable' : 'not reclaimable'}`,
        other.run === 'ended' && !other.eligible && !other.justified,
      ),
      claim(
        `ended with proof: scope ${scopeAfter}, ${sealed.eligible ? 'sealed' : 'not sealed'}, nobody left`,
        scopeAfter === 'exited' && sealed.eligible && sealed.justified,
      ),
    ],
    eligibility: said,
    convergence: { ended: 2, converged: [scopeAfter === 'exited', other.run === 'ended'].filter(Boolean).length },
  };
}

export const survivorRow = row('FAULT-11', observe, judgeSurvivor);
