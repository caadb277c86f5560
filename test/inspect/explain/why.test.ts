/** "Why is it not moving?" for what people ask about: each text names what is in the way and who can help. */
import { describe, expect, it } from 'vitest';
import { explain } from '../../../inspect/explain/explain.ts';
import type { Explanation } from '../../../inspect/explain/explanation.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import { namedAtMost } from '../../../machines/notedRuns.ts';
import { sealBlockersOf } from '../../../machines/worktreeGeneration.ts';
import { sampledAt, workload } from '../../machines/support/evidence.ts';
import { gapNamed, otherGuardian } from '../../machines/support/generationEvidence.ts';
import {
  admitted,
  closed,
  ended,
  granted,
  newGeneration,
  noted,
  opened,
  proved,
  readyToSeal,
  sealed,
  tell as tellGeneration,
  verified,
} from '../../machines/support/generationStory.ts';
import { newGoal, tell } from '../../machines/support/goalStory.ts';
import {
  bound,
  drain,
  enclosed,
  gap,
  launch,
  playRun,
  playScope,
  playSession,
  playWorker,
  rebooted,
  rootEnded,
  seen,
  type Told,
  treeEnded,
} from '../../machines/support/play.ts';
import { type Records, sourceOf } from './support/records.ts';

type Actors = Records['actors'];

/** Explains the first of the actors, with the others on record. */
function told(actors: Actors, rest: Omit<Records, 'actors'> = {}): Explanation & { readonly text: string } {
  const [kind, id] = actors[0] as Actors[number];
  const explanation = explain(sourceOf({ actors, ...rest }), kind, id) as Explanation;
  return { ...explanation, text: explanation.sentences.join('\n') };
}

const evidence = ({ unblocks }: Explanation): readonly string[] => unblocks.map((one) => one.evidence);
const nodeId = newGoal().context.nodeId;
const goalId = newGoal().context.goalId;
const here = { nodeId };
const queued = () => tell(newGoal(), 'goal.queued');
const scopeOfGoal = (story: readonly Told[]) => playScope(story, { goalId }).snapshot;

describe('a Goal', () => {
  it('that nobody has queued waits for an operator', () => {
    const { text, ...rest } = told([['goal', goalId, newGoal()]], here);
    expect(text).toContain('waits for the decision of an operator');
    expect(evidence(rest)).toContain('goal.queued');
    expect(rest.unblocks.find((one) => one.evidence === 'goal.queued')?.supplier).toContain('custody goals queue');
  });

  it('without a request names the guard that keeps it from the queue', () => {
    const { text, next } = told([['goal', goalId, newGoal({ round: undefined })]], here);
    expect(text).toContain('nobody has authored a request yet');
    expect(text).toMatch(/Blocked by a guard: goal\.queued .*but not now/);
    expect(next.find(({ event }) => event === 'goal.queued')).toMatchObject({
      answer: false,
      refused: ['hasAuthoredRound'],
    });
  });

  it('is blocked by a predecessor that is unverified, and not by one that is proved to be gone', () => {
    const lost = scopeOfGoal([...launch, gap('guardian_gone')]);
    const { text } = told(
      [
        ['goal', goalId, queued()],
        ['executionScope', 'S1', lost],
      ],
      here,
    );
    expect(text).toContain('It is blocked: scope S1 is unverified (gap: guardian gone)');
    expect(text).toContain('custody explain S1');
    const gone = scopeOfGoal([...launch, gap('guardian_gone'), rebooted]);
    const after = told(
      [
        ['goal', goalId, queued()],
        ['executionScope', 'S1', gone],
      ],
      here,
    );
    expect(after.text).not.toContain('S1');
    expect(after.text).toContain('waits for a worker of this node');
  });

  it('is held up by a scope whose record is damaged, which counts as unverified', () => {
    const { text } = told(
      [
        ['goal', 'G1', tell(newGoal({ goalId: 'G1' as never }), 'goal.queued')],
        ['executionScope', 'S9', 'corrupt'],
      ],
      here,
    );
    expect(text).toContain('It is blocked: scope S9 is unverified (gap: record corrupt)');
  });

  it('of another node waits for that one', () => {
    const { text } = told([['goal', goalId, queued()]], { nodeId: 'Nother' });
    expect(text).toContain(`waits for node ${nodeId}`);
  });

  it('in conflict waits for a person on every node, wherever it stands', () => {
    const { text, ...rest } = told([['goal', goalId, tell(queued(), 'sync.conflictRaised')]], here);
    expect(text).toContain('two nodes contradict each other');
    expect(text).toContain('No command of this version chooses');
    expect(evidence(rest)).toEqual([]);
  });

  it('that is over waits for nothing, except for what has begun', () => {
    const over = told([['goal', goalId, tell(newGoal(), 'goal.cancelled')]], here);
    expect(over.waitsFor).toEqual([]);
    expect(over.unblocks).toEqual([]);
    expect(over.text).toContain('nothing is waited for');
  });
});

describe('a run', () => {
  it('that is reserved waits for an identity, and says why it is unresolved', () => {
    expect(told([['run', 'R1', playRun([]).snapshot]]).text).toContain('reserved and waits for the verified identity');
    const unresolved = playRun([['admission.uncertain', { reason: 'handshake_lost' }]]).snapshot;
    const { text, ...rest } = told([['run', 'R1', unresolved]]);
    expect(text).toContain('unresolved (handshake lost)');
    expect(text).toContain('proof that its gate never opened');
    expect(evidence(rest)).toEqual(expect.arrayContaining(['identity.bound', 'admission.cancelled']));
  });

  it('of somebody else says what was never told, and that an unknown sample moves nothing', () => {
    const observed = {
      mode: 'observe',
      origin: 'observed',
      rootScopeId: null,
      gaps: ['reserve_missing', 'place_missing'] as string[],
    } satisfies Parameters<typeof playRun>[1];
    const look = (result: 'alive' | 'unknown', reason: string): Told => [
      'process.observed',
      { result, reason, stable: true, identity: workload, basisVersion: 1, sampledAt, contextDigest: '' },
    ];
    const { snapshot } = playRun([bound, look('alive', 'sampled'), look('unknown', 'hidden')], observed);
    const { text, ...rest } = told([['run', 'R1', snapshot]]);
    expect(text).toContain('launched by somebody else');
    expect(text).toContain('Never told of it: reserve missing, place missing');
    expect(text).toContain('could not tell (hidden), the last certain one found it alive');
    expect(text).toContain('no guardian of this program holds it');
    expect(evidence(rest)).toEqual(expect.arrayContaining(['reservation.reported', 'process.observed']));
  });

  it('that has ended waits for nothing, and sends on to its scope', () => {
    const { snapshot } = playRun(
      [bound, ['scope.exitProved', { scopeId: 'S1' as never, proofKind: 'boot_epoch', proofEventId: 'e' }]],
      { rootScopeId: 'S1' as never },
    );
    const scope = playScope([...launch, rootEnded]).snapshot;
    const { text, waitsFor } = told([
      ['run', 'R1', snapshot],
      ['executionScope', 'S1', scope],
    ]);
    expect(waitsFor).toEqual([]);
    expect(text).toContain('By what it is known to have ended: scope proof (a restart of this machine since)');
    expect(text).toContain('scope S1 is live (custody explain S1)');
  });
});

describe('a scope', () => {
  const members = { S1: { members: [{ pid: 41, name: 'sleep', state: 'S', ppid: 1 }], total: 1 } };

  it('that is being ended says how far it is, why, and who is left', () => {
    const { text } = told([['executionScope', 'S1', playScope([...launch, drain('cancelled')]).snapshot]], { members });
    expect(text).toContain('being ended (cancelled, attempt 1): the grace runs');
    expect(text).toContain('Its guardian lists pid 41 (sleep)');
  });

  it('whose root has ended waits for the rest, and names them only where the guardian was asked', () => {
    const snapshot = playScope([...launch, rootEnded]).snapshot;
    expect(told([['executionScope', 'S1', snapshot]], { members }).text).toContain('lists pid 41 (sleep)');
    expect(told([['executionScope', 'S1', snapshot]]).text).not.toContain('lists');
  });

  it('with a gap names the three proofs, and only those, as what leads out', () => {
    const { text, ...rest } = told([['executionScope', 'S1', playScope([...launch, gap('guardian_gone')]).snapshot]]);
    expect(text).toContain('one of the three proofs that exist');
    expect(text).toContain('custody recover --assume-ended S1');
    const proofs = evidence(rest).filter((one) => one !== 'end.assumed');
    expect(proofs).toEqual(['guardian.exitReceipt', 'enclosing.receiptAccepted', 'boot.epochEnded']);
  });

  it('whose guardian may be there takes no proof of the scope around it, and says which guard refuses', () => {
    const { text, next } = told([['executionScope', 'S1', playScope([...launch, gap('record_lost')]).snapshot]]);
    expect(next).toContainEqual(
      expect.objectContaining({ event: 'enclosing.receiptAccepted', refused: ['guardianGone'] }),
    );
    expect(text).toMatch(/Blocked by a guard: enclosing\.receiptAccepted/);
  });

  it.each<readonly [string, Told]>([
    ['its own exit receipt', treeEnded],
    ['the exit receipt of the scope around it', enclosed],
    ['a restart of this machine since', rebooted],
  ])('is proved to be gone by %s, and waits for nothing then', (proof, event) => {
    const { snapshot } = playScope([...launch, gap('guardian_gone'), event]);
    const { text, waitsFor } = told([['executionScope', 'S1', snapshot]]);
    expect(text).toContain(`is proved to be gone, by ${proof}`);
    expect(waitsFor).toEqual([]);
  });

  it('that cannot be looked at concludes nothing', () => {
    const { text } = told([['executionScope', 'S1', playScope([...launch, seen('unknown', 'hidden')]).snapshot]]);
    expect(text).toContain('unverified (transient: hidden)');
    expect(text).toContain('Nothing is concluded from that');
  });

  it('whose launch belongs to nobody is asked about as such', () => {
    const launching = playScope(launch.slice(0, 1)).snapshot;
    expect(told([['executionScope', 'S1', launching]], { inFlight: ['S1'] }).text).toContain(
      'scope S1'.replace('s', 'S'),
    );
    expect(told([['executionScope', 'S1', launching]]).text).toContain('launch unresolved');
    expect(told([['executionScope', 'S1', launching]], { inFlight: ['S1'] }).text).not.toContain('launch unresolved');
  });
});

describe('a worktree', () => {
  it('that cannot be sealed names every blocker with a way out', () => {
    const everything = tellGeneration(
      newGeneration(),
      noted('R9'),
      ['coverage.gapRecorded', gapNamed('gap1')],
      verified,
    );
    const managed = tellGeneration(
      newGeneration(),
      granted,
      verified,
      admitted('R1'),
      opened('R1', 'S1', otherGuardian),
      admitted('R2'),
      ['coverage.gapRecorded', gapNamed('gap1')],
    );
    const { text } = told([['worktreeGeneration', 'W1', managed]], {
      members: { S1: { members: [{ pid: 7, state: 'S', ppid: 1 }], total: 1 } },
    });
    const blockers = sealBlockersOf(managed);
    expect(new Set(blockers.map(({ code }) => code))).toEqual(
      new Set([
        'not_closed',
        'run_active',
        'scope_unproved',
        'scope_missing',
        'coverage_gap',
        'contract_covers_other_guardian',
      ]),
    );
    for (const { detail } of blockers) expect(text).toContain(detail);
    expect(text).toContain('pid 7');
    expect(text).toContain('custody worktrees close');
    const watched = told([['worktreeGeneration', 'W1', everything]]);
    expect(watched.text).toContain('run R9 was started by somebody else');
    expect(watched.text).toContain('only watched');
  });

  it('points to itself where others are only counted', () => {
    const many = Array.from({ length: namedAtMost + 2 }, (_, n) => noted(`R${n}`));
    const { text } = told([['worktreeGeneration', 'W1', tellGeneration(newGeneration(), verified, ...many)]]);
    expect(text).toContain(
      '2 more runs that somebody else started have not ended: their launchers, or looks at their processes, have to say that they ended (custody worktrees show W1)',
    );
    expect(text).not.toContain('undefined');
  });

  it('names the guard that would refuse the seal now', () => {
    const closedEarly = tellGeneration(
      newGeneration(),
      granted,
      verified,
      admitted('R1'),
      opened('R1', 'S1'),
      ended('R1'),
      closed,
    );
    const { text, next } = told([['worktreeGeneration', 'W1', closedEarly]]);
    expect(next.find(({ event }) => event === 'seal.requested')).toMatchObject({
      answer: false,
      refused: ['allSettled'],
    });
    expect(text).toMatch(/Blocked by a guard: seal\.requested/);
    const settled = told([['worktreeGeneration', 'W1', tellGeneration(closedEarly, proved('R1', 'S1'))]]);
    expect(settled.next.find(({ event }) => event === 'seal.requested')?.answer).toBe(true);
    expect(settled.text).toContain('nothing stands in the way');
  });

  it('that is sealed waits for its executor', () => {
    expect(told([['worktreeGeneration', 'W1', tellGeneration(readyToSeal(), sealed)]]).text).toContain(
      'custody-archive',
    );
  });
});

describe('a session, a worker, a fence', () => {
  it('whose agent asks for somebody waits for a person', () => {
    const { snapshot } = playSession([
      ['launch.releaseCommitted', {}],
      ['session.inputNeeded', { seq: 1, reasonCode: 'permission' }],
    ]);
    const { text, ...rest } = told([['ptySession', 'P1', snapshot]]);
    expect(text).toContain('It waits for a person');
    expect(text).toContain('custody sessions attach P1');
    expect(evidence(rest)[0]).toBe('session.inputSent');
  });

  it('that cannot be accounted for is not replaced, and names its fence', () => {
    const lost = playWorker([
      ['scope.unverified', { scopeId: playWorker([]).snapshot.context.scopeId, reason: 'guardian_gone' }],
    ]).snapshot;
    const { runtimeId, scopeId } = lost.context;
    const scope = playScope([...launch, gap('guardian_gone')], { scopeId, runId: null, goalId: null }).snapshot;
    const actors: Actors = [
      ['workerIncarnation', 'K1', lost],
      ['executionScope', scopeId, scope],
      ['recoveryFence', runtimeId, 'corrupt'],
    ];
    const { text } = told(actors);
    expect(text).toContain('Nothing replaces it before that');
    expect(text).toContain(`scope ${scopeId} is unverified (gap: guardian gone)`);
    expect(text).toContain(`record of its fence ${runtimeId} cannot be trusted`);
  });
});

describe('a record', () => {
  it.each<ActorKind>([
    'goal',
    'run',
    'executionScope',
    'worktreeGeneration',
    'ptySession',
    'workerIncarnation',
    'recoveryFence',
  ])('of a %s that is damaged concludes nothing and says so', (kind) => {
    const { fault, text, next, unblocks, state } = told([[kind, 'A1', 'corrupt']]);
    expect(fault).toBe('actor_corrupt');
    expect(text).toContain('cannot be trusted');
    expect(text).toContain('custody doctor');
    expect({ next, unblocks, state }).toEqual({ next: [], unblocks: [], state: [] });
  });

  it('that does not exist is not explained', () => {
    expect(explain(sourceOf({ actors: [] }), 'run', 'R1')).toBeUndefined();
  });
});
