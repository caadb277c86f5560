/** Why a worktree is not sealed, handed over or retired: each unmet premise, and who can meet it. */
import { writersBeside } from '../../../actors/daemon/views/writers.ts';
import {
  type GenerationSnapshot,
  handoffBlockersOf,
  migrationBlockersOf,
  sealBlockersOf,
  writerBlockersOf,
} from '../../../machines/worktreeGeneration.ts';
import { ownController, type SealBlocker } from '../../../machines/worktreeGenerationBlockers.ts';
import { holdersOf } from '../scopes.ts';
import type { About, Subject } from '../subject.ts';
import { listed, quoted, wayOut } from '../words.ts';

type Generation = Subject<'worktreeGeneration'>;

export function aboutGeneration(generation: Generation): About {
  const { id, snapshot } = generation;
  const { path, goalId, controller, branch } = snapshot.context;
  const serves = goalId === null ? '' : ` of Goal ${goalId}`;
  const on = branch === null ? '' : ` on branch ${quoted(branch)}`;
  const control =
    controller !== ownController
      ? `${quoted(controller)} is in control`
      : snapshot.matches({ authority: 'observe' })
        ? 'this program has not taken control yet'
        : 'this program is in control';
  return {
    what: `Worktree ${id}${serves} is the directory ${quoted(path)}${on}; ${control}.`,
    waitsFor: waits(generation),
    helps: helpsOf(snapshot),
    notes: ['run.settled', 'scope.settled', 'coverage.gapClosed', 'contract.verified'],
    wants: wantedIn(snapshot),
    facts: facts(snapshot),
  };
}

type Helping = About['helps'][number];

/** What would take each blocker away. */
const remedies: Readonly<Partial<Record<SealBlocker['code'], Helping>>> = {
  not_closed: 'admission.closed',
  run_active: 'run.settled',
  noted_run: 'run.settled',
  scope_unproved: 'scope.settled',
  coverage_gap: 'coverage.gapClosed',
  contract_unverified: 'contract.verified',
  contract_covers_other_guardian: 'contract.verified',
};

function helpsOf(snapshot: GenerationSnapshot): About['helps'] {
  if (snapshot.matches({ lifecycle: 'sealed' })) return ['retirement.receiptVerified', 'authority.handedOff'];
  const blockers = [...sealBlockersOf(snapshot), ...migrationBlockersOf(snapshot)];
  const helping = blockers.flatMap(({ code }) => remedies[code] ?? []);
  return [
    ...new Set<Helping>([
      ...helping,
      'seal.requested',
      'authority.granted',
      'authority.migrated',
      'authority.handedOff',
    ]),
  ];
}

function wantedIn(snapshot: GenerationSnapshot): About['helps'] {
  if (snapshot.matches({ authority: 'observe' })) return ['authority.migrated'];
  return snapshot.matches({ lifecycle: 'closing' }) ? ['seal.requested', 'authority.handedOff'] : [];
}

function waits(generation: Generation): readonly string[] {
  const { snapshot, source } = generation;
  if (snapshot.matches({ lifecycle: 'retired' }) || snapshot.matches({ lifecycle: 'quarantined' })) return [];
  const handoff = ofHandoff(snapshot);
  if (snapshot.matches({ authority: 'quiescing' })) return handoff;
  if (snapshot.matches({ lifecycle: 'sealed' })) return ofExecutor(generation);
  if (snapshot.matches({ authority: 'observe' })) return [...handoff, ...ofTakeover(generation)];
  const blockers = [...sealBlockersOf(snapshot), ...writersBeside(source.host, snapshot)];
  if (blockers.length === 0)
    return [...handoff, 'It waits for an operator to seal it (custody worktrees seal); nothing stands in the way.'];
  if (snapshot.matches({ lifecycle: 'open' }))
    return [
      ...handoff,
      `It is open and waits for nothing. It could not be sealed now; in the way: ${each(generation, blockers)}`,
    ];
  return [...handoff, `It cannot be sealed yet. In the way: ${each(generation, blockers)}`];
}

const each = (generation: Generation, blockers: readonly SealBlocker[]): string =>
  `${blockers.map((blocker) => inWay(generation, blocker)).join('; ')}.`;

function inWay({ snapshot, source }: Generation, blocker: SealBlocker): string {
  const holders = blocker.scopeId === undefined ? undefined : holdersOf(source, blocker.scopeId);
  return `${blocker.detail}${holders === undefined ? '' : ` (${holders})`}: ${wayOut(blocker, snapshot.context.generationId)}`;
}

function ofHandoff(snapshot: GenerationSnapshot): readonly string[] {
  const { handoff } = snapshot.context;
  if (handoff === null) return [];
  const left = handoffBlockersOf(snapshot).map(({ detail }) => detail);
  return [
    `Control is on its way to ${quoted(handoff.to)}, and leaves once everybody who was admitted is settled${left.length === 0 ? '' : `: ${listed(left)}`}; or it stays after all (custody worktrees authority ${snapshot.context.generationId} abandon).`,
  ];
}

function ofTakeover({ snapshot }: Generation): readonly string[] {
  const blockers = migrationBlockersOf(snapshot);
  const left = blockers.map((blocker) => `${blocker.detail}: ${wayOut(blocker, snapshot.context.generationId)}`);
  return [
    `It is only watched, and waits for nothing. Taking control over (custody worktrees authority) ${left.length === 0 ? 'would ask for evidence and nothing else' : `is held up: ${left.join('; ')}`}.`,
  ];
}

/** Whoever was noted after the seal keeps a sealed worktree from its ticket. */
function ofExecutor(generation: Generation): readonly string[] {
  const { snapshot, source } = generation;
  const since = [...writerBlockersOf(snapshot), ...writersBeside(source.host, snapshot)];
  return [
    'It is sealed, and waits for an executor that archives or removes it to bring its receipt (custody-archive, custody-remove).',
    ...(since.length === 0
      ? []
      : [`Since the seal somebody was heard of who may write there, so it gets no ticket: ${each(generation, since)}`]),
  ];
}

function facts({ context }: GenerationSnapshot): readonly string[] {
  const { pathObservation, quarantine, retirement, hypothetical } = context;
  const told: string[] = [];
  if (pathObservation === 'missing' || pathObservation === 'replaced')
    told.push(`At its path the directory is ${pathObservation}; that proves nothing about who may write.`);
  if (quarantine !== null)
    told.push(
      `It was put aside because the end of scope ${quarantine.scopeId} is only assumed; it is never sealed and never removed.`,
    );
  if (retirement !== null) told.push(`${quoted(retirement.executor)} has given it back.`);
  if (hypothetical !== null && !hypothetical.eligible)
    told.push(
      `The last prediction found it not fit for cleaning up: ${listed(hypothetical.blockers.map(({ code }) => code))}.`,
    );
  return told;
}
