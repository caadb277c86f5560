/**
 * What would be lost, and who would be disturbed, if a worktree were cleaned up now (WT-06). It moves no lifecycle and
 * changes no file of the repository. The place is read before all else and again at the end, and the records last: whoever
 * did something in between is seen by one of them.
 */
import { realpathSync } from 'node:fs';
import type { GenerationId } from '../../../machines/ids.ts';
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import { required } from '../../runtime/actorAccess.ts';
import { resolveWorktree } from '../../runtime/generations.ts';
import { createSequence } from '../../runtime/runtime.ts';
import { Serial } from '../../runtime/serial.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { PredictionView } from '../api/views.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { type Content, lookAtContent } from '../prediction/content.ts';
import type { Fact } from '../prediction/fact.ts';
import { lookAtPlace } from '../prediction/place.ts';
import { lookForProcesses, type Presence } from '../prediction/presence.ts';
import { recordPrediction } from '../prediction/record.ts';
import { lookAtStanding } from '../prediction/standing.ts';
import { worktreeView } from '../views/worktreeView.ts';

/** The git of one look would be found in the worktree by the other. */
const perGeneration = new Serial();

/** Exit 13 with the facts when there are any; both answers are whole. */
export async function predictWorktree(
  context: DaemonContext,
  args: ParsedArguments<'worktrees.predict'>,
): Promise<Answer<PredictionView>> {
  const id = resolveWorktree(context, args.id);
  const data = await perGeneration.run(id, () => predicted(context, id, args));
  return { data, exitCode: data.eligible ? 0 : 13 };
}

async function predicted(
  context: DaemonContext,
  id: GenerationId,
  args: ParsedArguments<'worktrees.predict'>,
): Promise<PredictionView> {
  const { clock } = context;
  const [{ wallMs: atWallMs }, startedMonoMs] = [clock.now(), clock.monoMs()];
  const look = nextLook(context);
  const generation = required(context.host, 'worktreeGeneration', id);
  const before = lookAtPlace(generation, look);
  const content = await contentOf(context, generation, { ...args, gitDir: before.gitDir });
  const presence = await presenceOf(context, generation, { ...args, look });
  const after = lookAtPlace(required(context.host, 'worktreeGeneration', id), look);
  const standing = await lookAtStanding(context, required(context.host, 'worktreeGeneration', id));
  const isChanged = before.fingerprint !== after.fingerprint;
  const blockers = [
    ...standing.facts,
    ...presence.facts,
    ...before.facts,
    ...(isChanged ? [changedMeanwhile(look)] : []),
    ...content.facts,
  ];
  const eligible = blockers.length === 0;
  const { path, lifecycle, authority } = worktreeView(context, id);
  const recorded = await recordPrediction(context, id, { eligible, blockers: [...blockers, ...standing.steps] });
  const elapsedMs = Math.round(clock.monoMs() - startedMonoMs);
  return {
    ...{ generationId: id, path, lifecycle, authority, eligible, blockers, steps: standing.steps },
    ...{ content: content.view, processes: presence.view, atWallMs, elapsedMs, looks: content.looks, recorded },
  };
}

interface ContentArguments extends Pick<ParsedArguments<'worktrees.predict'>, 'ignored' | 'limitMs'> {
  readonly gitDir: string | undefined;
}

const nothingSeen: Content = {
  facts: [],
  view: { head: null, branch: null, kept: null, ignored: null },
  looks: [],
};

async function contentOf(
  context: DaemonContext,
  generation: GenerationSnapshot,
  { gitDir, ignored, limitMs }: ContentArguments,
): Promise<Content> {
  if (gitDir === undefined) return nothingSeen;
  return lookAtContent(context, generation, { gitDir, ignored, limitMs });
}

interface PresenceArguments extends Pick<ParsedArguments<'worktrees.predict'>, 'processes' | 'allowUnseen'> {
  readonly look: string;
}

async function presenceOf(
  context: DaemonContext,
  { context: { path } }: GenerationSnapshot,
  { processes, allowUnseen, look }: PresenceArguments,
): Promise<Presence> {
  if (processes) {
    const presence = await lookForProcesses(context, realPath(path), look);
    return { ...presence, facts: presence.facts.filter(({ code }) => !allowUnseen || code !== 'processes_unseen') };
  }
  const detail = 'nobody looked which processes are there: that was not asked for';
  return { facts: [{ code: 'processes_not_looked', detail, evidenceIds: [look] }], view: null };
}

/** Where it is gone, whoever still stands in it is shown under its last name. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

const changedMeanwhile = (look: string): Fact => ({
  code: 'changed_while_looking',
  detail: 'something was changed there while it was looked at',
  evidenceIds: [look],
});

const sequences = new WeakMap<object, (what: string) => string>();

/** Names what is seen without git by the start of the daemon and a number (ruling 2). */
function nextLook({ store }: DaemonContext): string {
  const next = sequences.get(store) ?? createSequence(store);
  sequences.set(store, next);
  return next('look');
}
