/** Which run worked in which worktree, as another tool has it. It is noted there and keeps the worktree from its seal. */
import type { GenerationId, RunId } from '../../../machines/ids.ts';
import { intact } from '../../runtime/actorAccess.ts';
import { draft } from '../../runtime/submission.ts';
import { gapDraft } from '../coverage.ts';
import { disturb } from '../disturbed.ts';
import { strangerIn } from '../placing.ts';
import { answered, controlledHere, type Decision, type LegacyParts, type RecordOf } from './decision.ts';
import type { LegacySource } from './names.ts';
import { by } from './telling.ts';

export function decideBinding(parts: LegacyParts, { tool }: LegacySource, record: RecordOf<'binding'>): Decision {
  const { host, store } = parts;
  const run = store.legacyRecords.find({ tool, kind: 'run', name: record.run });
  if (run === undefined) return answered('refused', null, 'unknown_run');
  const worktree = store.legacyRecords.find({ tool, kind: 'worktree', name: record.worktree });
  if (worktree === undefined) return answered('refused', null, 'unknown_worktree');
  const [runId, generationId] = [run.actorId as RunId, worktree.actorId as GenerationId];
  const generation = intact(host, 'worktreeGeneration', generationId);
  if (generation === undefined || generation === 'corrupt') return answered('refused', null, 'worktree_unreadable');
  if (!generation.matches({ authority: 'observe' })) return stranger(parts, { tool, runId, generationId });
  return {
    id: runId,
    drafts: () => [
      // Noted first: a run that is over already says so there as soon as it is placed.
      draft('run.noted', { to: ['worktreeGeneration', generationId], payload: { runId, origin: 'legacy' }, by }),
      draft('run.placed', { to: ['run', runId], payload: { generationId }, by }),
    ],
  };
}

interface Strange {
  readonly tool: string;
  readonly runId: string;
  readonly generationId: GenerationId;
}

/** Nobody else's run can be noted where this program is in control; it stands in the way there as a gap does (WT-04). */
function stranger({ store, host, clock }: LegacyParts, { tool, runId, generationId }: Strange): Decision {
  const { wallMs, bootId } = clock.now();
  const gap = { runId, producer: tool, at: { wallMs, bootId } };
  const drafts = () => {
    disturb({ store, host }, [generationId]);
    return [gapDraft(generationId, strangerIn(store, gap))];
  };
  return { id: runId, drafts, remark: controlledHere };
}
