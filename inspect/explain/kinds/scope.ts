/** Why a scope is not over: who is left of its tree, how far its end has come, and which proofs could close a gap. */

import { lastResort, nestedResort } from '../../../actors/runtime/lastResort.ts';
import { assessOwnership, holdsSlot, isLeftToResidents } from '../../../machines/assessment.ts';
import { endingInWords, endingOf, outputOf } from '../endings.ts';
import { holdersOf, lastLook } from '../scopes.ts';
import type { About, Subject } from '../subject.ts';
import { inWords, listed, quoted, verdictInWords } from '../words.ts';

type Scope = Subject<'executionScope'>;

const proofs = ['guardian.exitReceipt', 'enclosing.receiptAccepted', 'boot.epochEnded'] as const;

export function aboutScope(scope: Scope): About {
  const { source, id, snapshot } = scope;
  const { runId, parentScopeId, controller, purpose } = snapshot.context;
  const assessment = assessOwnership(snapshot, source.isLaunchedHere(id));
  const whose = controller === null ? '' : `, launched by ${quoted(controller)},`;
  const serves = runId === null ? (purpose === null ? '' : ` (${quoted(purpose)})`) : ` of run ${runId}`;
  const inside = parentScopeId === null ? '' : `, inside scope ${parentScopeId}`;
  const isOver = assessment.state === 'exited';
  const ending = endingOf(source, snapshot);
  return {
    what: `Scope ${id}${serves}${inside}${whose} ${verdictInWords(assessment)}.`,
    waitsFor: isOver ? [] : [...ofTree(scope, assessment), ...(isAnsweredFor(assessment) ? [] : ofEnding(scope))],
    helps: helpsOf(scope),
    wants: wantedIn(scope, assessment),
    ending,
    facts: [...endingInWords(snapshot, ending), ...facts(scope, assessment)],
  };
}

/** What a launch waits for next: a guard that refuses it is news, one that refuses what comes later is not. */
function wantedIn({ snapshot }: Scope, assessment: Assessed): About['wants'] & object {
  if (snapshot.matches({ coverage: 'requested' })) return ['launch.prepared'];
  if (snapshot.matches({ coverage: 'launching' })) return ['guardian.attached'];
  if (snapshot.matches({ coverage: 'gated' })) return ['launch.releaseCommitted'];
  if (!snapshot.matches({ coverage: { unverified: 'gap' } }) || assessment.state !== 'unverified') return [];
  return assessment.assumed ? proofs : [...proofs, 'end.assumed'];
}

function helpsOf({ snapshot }: Scope): About['helps'] {
  const ending = ['drain.quiesced', 'drain.signalled'] as const;
  if (snapshot.matches({ coverage: 'requested' }) || snapshot.matches({ coverage: 'launching' }))
    return ['launch.prepared', 'guardian.attached', 'launch.abandoned', 'launch.notStarted', ...ending];
  if (snapshot.matches({ coverage: 'gated' }))
    return ['launch.releaseCommitted', 'launch.abandoned', 'guardian.exitReceipt', 'boot.epochEnded', ...ending];
  if (snapshot.matches({ coverage: 'unverified' }))
    return [...proofs, 'guardian.observed', 'launch.abandoned', 'end.assumed', ...ending];
  return ['guardian.exitReceipt', 'boot.epochEnded', ...ending];
}

type Assessed = ReturnType<typeof assessOwnership>;

function ofTree(scope: Scope, assessment: Assessed): readonly string[] {
  const { snapshot, source, id } = scope;
  const { context } = snapshot;
  if (snapshot.matches({ coverage: 'requested' }))
    return [
      context.kind === 'external'
        ? 'It waits to be registered as launched by somebody else.'
        : 'It waits for the launch coordinator to reserve its receipts and spawn a guardian.',
    ];
  if (snapshot.matches({ coverage: 'launching' }))
    return ['It waits for its guardian to report who it is; the gate is shut until then.'];
  if (snapshot.matches({ coverage: 'gated' }))
    return ['It waits for the launch coordinator to commit the release; the workload has not run an instruction.'];
  if (assessment.state === 'unverified') return ofProof(scope, assessment);
  const holders = holdersOf(source, id);
  const who = holders === undefined ? '' : `; ${holders}`;
  if (isLeftToResidents(snapshot))
    return [
      `Its root has ended and only residents are left (${listed(context.residents.map(({ name }) => quoted(name)))}); it waits for their end${who}.`,
    ];
  return snapshot.matches({ workload: 'finished' })
    ? [
        `Its root has ended, and it waits for everybody else of its tree to end, which its guardian then proves with a receipt${who}.`,
      ]
    : [`It waits for its root and everybody of its tree to end, which its guardian then proves with a receipt${who}.`];
}

/** Whatever else was under way for it, nobody waits for that any more. */
const isAnsweredFor = (assessment: Assessed): boolean =>
  assessment.state === 'unverified' && assessment.assumed !== undefined;

function ofProof(
  { snapshot, id }: Scope,
  assessment: Extract<Assessed, { readonly state: 'unverified' }>,
): readonly string[] {
  const { guardianLast, parentScopeId } = snapshot.context;
  if (assessment.assumed)
    return [
      'Nobody has to wait for it any more, and a proof that comes late still counts: its own exit receipt, the receipt of an enclosing scope, or another boot of this machine.',
    ];
  if (assessment.certainty === 'transient')
    return [
      `It waits for a look that can tell: ${lastLook(guardianLast)}. Nothing is concluded from that; a sight of its guardian leads back, and its absence opens a gap.`,
    ];
  const around = parentScopeId === null ? 'none is on record that could bring one' : `scope ${parentScopeId}`;
  const resorts = [...nestedResort(parentScopeId, assessment), ...lastResort(id, assessment)];
  return [
    `It waits for one of the three proofs that exist: its own exit receipt, the receipt of an enclosing scope (${around}), or another boot of this machine. No later sight of life or quiet repairs the gap (${listed(snapshot.context.gaps.map(inWords)) || inWords(assessment.reason)}).`,
    ...(resorts.length === 0 ? [] : [`What can be done meanwhile: ${resorts.join('; or ')}.`]),
  ];
}

function ofEnding({ snapshot, source, id }: Scope): readonly string[] {
  const { drain, openSideEffects } = snapshot.context;
  const cause = drain === null ? '' : ` (${inWords(drain.cause)}, attempt ${drain.attempts})`;
  const holders = holdersOf(source, id);
  const who = holders === undefined ? '' : ` ${holders.charAt(0).toUpperCase()}${holders.slice(1)}.`;
  if (snapshot.matches({ termination: 'quiescing' }))
    return [`It is being ended${cause}: the grace runs, then its tree is frozen.${who}`];
  if (snapshot.matches({ termination: 'signalling' }))
    return [`It is being ended${cause}: its frozen members are killed one by one.${who}`];
  if (snapshot.matches({ termination: 'awaitingProof' }))
    return [`It is being ended${cause}: everybody was signalled, and only the receipt decides.${who}`];
  if (snapshot.matches({ termination: 'stalled' }))
    return [
      `Its end has stalled${cause}: the time ran out, or nobody could look, and that proves nothing. While its guardian answers it is asked for again by itself.${who}`,
    ];
  return openSideEffects.length === 0
    ? []
    : [`A publication has begun (${listed(openSideEffects)}); a drain because of a decision waits for it.`];
}

function facts({ source, snapshot }: Scope, assessment: Assessed): readonly string[] {
  const { witnessConflicts, delegators, runId, controller } = snapshot.context;
  const told: string[] = [];
  if (runId !== null && controller === null && !snapshot.matches({ workload: 'notReleased' }))
    told.push(`What it wrote: ${outputOf(source, runId)}.`);
  if (assessment.state === 'unverified' && assessment.assumed)
    told.push(`What was given as the reason: ${quoted(assessment.assumed.because)}.`);
  if (witnessConflicts.length > 0)
    told.push(`Numbers of its processes came to mean others: pid ${listed(witnessConflicts)}.`);
  if (delegators.length > 0)
    told.push(
      `Its recipe names ${listed(delegators)}, which hand work to somebody outside its tree; no receipt speaks of that.`,
    );
  told.push(holdsSlot(snapshot) ? 'It holds a slot of the capacity.' : 'It holds no slot.');
  return told;
}
