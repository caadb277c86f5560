/** Chapters 7 and 9: the escapee is ended with proof, the worktree sealed, and the receipts read. */
import type { ReceiptView } from '../../../actors/daemon/api/views.ts';
import { table } from '../../print/table.ts';
import { result } from '../../print/words.ts';
import { expectThat } from '../expectation.ts';
import { proofOf } from '../narrator.ts';
import type { Launched, Stage, Workplace } from '../stage.ts';
import type { Left } from './escapee.ts';

export interface Sealed {
  readonly lifecycle: string;
  readonly epoch: number | null;
  /** What was observed of the escapee's end. */
  readonly stop: { readonly outcome: string; readonly proof: string; readonly elapsedMs: number };
}

export async function endAndSeal(stage: Stage, { generationId }: Workplace, { launched }: Left): Promise<Sealed> {
  const { narrator, installation } = stage;
  const { runId } = launched.run;
  narrator.chapter(
    'Ended with proof, and sealed',
    'The guardian ends the whole tree, until the kernel says that no process of it is left.',
  );
  narrator.command('custody', 'runs', 'stop', runId);
  narrator.waiting('draining');
  const { outcome, assessment, elapsedMs } = await installation.call('runs.stop', { id: runId });
  expectThat(assessment.state === 'exited', `${runId} is proved to be gone`, assessment);
  narrator.good('escapee', `${outcome} after ${elapsedMs} ms: ${proofOf(assessment)}`);
  narrator.command('custody', 'worktrees', 'seal', generationId);
  const worktree = await installation.call('worktrees.seal', { id: generationId });
  expectThat(worktree.lifecycle === 'sealed', 'the worktree is sealed', worktree.lifecycle);
  narrator.good(
    'worktree',
    `${generationId} ${worktree.lifecycle} at epoch ${worktree.sealEpoch}, under ${worktree.contract?.split(' ')[0]}`,
  );
  const stop = { outcome, proof: assessment.proof, elapsedMs };
  return { lifecycle: worktree.lifecycle, epoch: worktree.sealEpoch, stop };
}

export interface NamedReceipt extends ReceiptView {
  readonly run: string;
  readonly runId: string;
}

export async function readReceipts(stage: Stage, runs: Readonly<Record<string, Launched>>): Promise<NamedReceipt[]> {
  const { narrator, installation } = stage;
  narrator.chapter(
    'The receipts',
    'Written by the guardians, each once, to files that were reserved before the launch.',
  );
  const ids = Object.values(runs).map(({ run }) => run.runId);
  narrator.typed(`for run in ${ids.join(' ')}; do custody runs show $run; done`);
  const all: NamedReceipt[] = [];
  for (const [name, { run }] of Object.entries(runs)) {
    const { receipts } = await installation.call('runs.show', { id: run.runId });
    all.push(...receipts.map((receipt) => ({ run: name, runId: run.runId, ...receipt })));
  }
  const wrong = all.filter(({ status }) => status !== 'authentic');
  expectThat(all.length === 9 && wrong.length === 0, 'each run has three authentic receipts', wrong);
  const rows = all.map(({ run, kind, digest, receipt }) => [
    kind === 'start' ? run : '',
    kind,
    whatItSays(kind, receipt as unknown as ReceiptFields),
    { text: (digest ?? '').slice(0, 10), paint: narrator.style.dim },
  ]);
  narrator.lines(table({ heading: ['run', 'receipt', 'says', 'sha256'], rows, empty: '', style: narrator.style }));
  return all;
}

interface ReceiptFields {
  readonly guardian: { readonly pid: number };
  readonly workload: { readonly pid: number };
  readonly how: string;
  readonly code: number | null;
  readonly signal: number | null;
  readonly errno: number | null;
  readonly claim?: string;
  readonly proof?: string;
  readonly reaped?: number;
  readonly adopted?: number;
}

function whatItSays(kind: ReceiptView['kind'], receipt: ReceiptFields): string {
  const { guardian, workload, claim, proof, reaped, adopted } = receipt;
  if (kind === 'start') return `guardian ${guardian.pid} holds ${workload.pid} behind its gate`;
  if (kind === 'status') return `${workload.pid}: ${result(receipt)}`;
  return `${claim} (${proof}): ${reaped} reaped, ${adopted} adopted`;
}
