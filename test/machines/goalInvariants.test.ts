import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import type { Basis } from '../../machines/basis.ts';
import { basisSchema } from '../../machines/basis.ts';
import { typesWithBasis } from '../../machines/events/catalogue.ts';
import { type GoalSnapshot, goalMachine } from '../../machines/goal.ts';
import { basisOf, type FittingType } from './support/goalEvidence.ts';
import { goalAt, integrationAt, type Offered, offer, play, plots, progress } from './support/goalStory.ts';
import { leavesOf, nodesOf, pathOf } from './support/nodes.ts';

const stepsOnly = new Set(['backlog', 'todo', 'plan', 'implement', 'quality', 'governance', 'review']);

/** What a Goal hears without anybody having decided something: workers, the stop coordinator, the git observer. */
const automated = new Set<string>([
  ...typesWithBasis,
  'execution.interrupted',
  'sideEffect.finished',
  'integration.released',
  'integration.localRecorded',
  'integration.notApplied',
  'publication.finished',
  'publication.failed',
]);

function always(check: (offered: Offered) => void, numRuns = 25): void {
  fc.assert(
    fc.property(plots, (plot) => {
      play(plot, check);
    }),
    { numRuns },
  );
}

const allLeaves = (machine: AnyStateMachine): string[] =>
  nodesOf(machine)
    .filter(({ type }) => type === 'atomic')
    .map(pathOf)
    .sort();

const workflowOf = ({ value }: GoalSnapshot): string => leavesOf({ workflow: value.workflow }).join();

describe('in every story', () => {
  it('has stories that come everywhere, so that what holds in them says something', () => {
    const reached = new Set<string>();
    const told = fc.sample(plots, { numRuns: 60, seed: 5 });
    for (const plot of told)
      play(plot, ({ snapshot }) => {
        for (const leaf of leavesOf(snapshot.value)) reached.add(leaf);
      });
    expect([...reached].sort()).toEqual(allLeaves(goalMachine));
  });

  it('I-05 OCC-01: occurrence and boundary never fall, and every entry into a step has a number of its own', () => {
    always(({ before, snapshot }) => {
      const [was, is] = [before.context.occurrence, snapshot.context.occurrence];
      expect(is.n).toBeGreaterThanOrEqual(was.n);
      expect(is.boundary).toBeGreaterThanOrEqual(was.boundary);
      expect(is.boundary).toBeLessThanOrEqual(is.n);
      const isEntry = before.context.status !== snapshot.context.status && stepsOnly.has(snapshot.context.status);
      if (isEntry) expect(is.n).toBeGreaterThan(was.n);
    });
  });

  it('SEL-07: only decisions, Rounds, imports and resolutions move the boundary', () => {
    always(({ before, snapshot, sample }) => {
      if (automated.has(sample.type))
        expect(snapshot.context.occurrence.boundary).toBe(before.context.occurrence.boundary);
    });
  });

  it('I-09 SYNC-06: nothing automated moves the workflow of a Goal in conflict', () => {
    always(({ before, snapshot, sample }) => {
      if (before.value.convergence === 'conflicted' && automated.has(sample.type))
        expect(workflowOf(snapshot)).toBe(workflowOf(before));
    });
  });

  it('I-10: done and cancelled stay', () => {
    always(({ before, snapshot }) => {
      if (before.hasTag('terminal')) expect(snapshot.context.status).toBe(before.context.status);
    });
  });

  it('I-07 RCPT-03: nothing automated leads out of failed', () => {
    always(({ before, snapshot, sample }) => {
      if (before.context.status === 'failed' && automated.has(sample.type))
        expect(snapshot.context.status).toBe('failed');
    });
  });

  it('I-11 OCC-08: an integration begins from a lease that is held at the current basis', () => {
    always(({ before, snapshot }) => {
      const begins = before.value.integration !== 'begun' && snapshot.value.integration === 'begun';
      if (!begins) return;
      expect(before.value.integration).toBe('leased');
      expect(before.context.status).toBe('governance');
      expect(before.context.integration?.occurrence).toBe(before.context.occurrence.n);
      expect(before.value.convergence).toBe('converged');
    });
  });

  it('I-12 STOP-06: nothing is published after cancel, and a Goal never asks the world for anything', () => {
    always(({ before, snapshot, effects }) => {
      expect(effects).toEqual([]);
      const starts = before.value.integration !== 'publishing' && snapshot.value.integration === 'publishing';
      if (starts) expect(before.context.status).toBe('governance');
    });
  });

  it('I-13: who leaves governance for review has integrated the candidate of the current Round', () => {
    always(({ before, snapshot: { context } }) => {
      if (before.context.status === context.status || context.status !== 'review') return;
      expect(context.integration).toMatchObject({ complete: true, round: context.round, candidate: context.candidate });
    });
  });

  it('RCPT-06: at most one verdict per occurrence', () => {
    always(({ snapshot: { context } }) => {
      const numbers = context.receipts.map(({ occurrence }) => occurrence);
      expect(new Set(numbers).size).toBe(numbers.length);
    }, 30);
  });

  it('RCPT-01 RCPT-07 CLAIM-03: receipts, claims, Rounds and late evidence are only ever added to', () => {
    always(({ before, snapshot }) => {
      for (const list of ['receipts', 'claims', 'rounds', 'late', 'integrationHistory', 'finishedEffects'] as const) {
        const kept: readonly unknown[] = snapshot.context[list].slice(0, before.context[list].length);
        expect(kept.every((entry, index) => entry === before.context[list][index])).toBe(true);
        expect(kept.length).toBe(before.context[list].length);
      }
    });
  });

  it('OCC-03: the revision counts what changed, one per event, and nothing else', () => {
    always(({ before, snapshot, change }) => {
      expect(snapshot.context.revision - before.context.revision).toBe(change === 'changed' ? 1 : 0);
    });
  });

  it('OCC-02: the step that a basis names is the state that the workflow is in', () => {
    always(({ snapshot }) => expect(workflowOf(snapshot).endsWith(`.${snapshot.context.status}`)).toBe(true));
  });
});

const workerTypes = [...typesWithBasis] as FittingType[];
const changes: Readonly<
  Record<Exclude<keyof Basis, 'claimId'>, (basis: Basis) => Partial<Record<keyof Basis, unknown>>>
> = {
  goalId: () => ({ goalId: 'G9' }),
  occurrence: ({ occurrence }) => ({ occurrence: occurrence + 1 }),
  step: ({ step }) => ({ step: step === 'plan' ? 'quality' : 'plan' }),
  nodeId: () => ({ nodeId: 'N9' }),
  round: ({ round }) => ({ round: round + 1 }),
};

describe('I-08 OCC-03: a worker that is out of date', () => {
  const places = [
    ...(['todo', 'plan', 'implement', 'quality', 'governance'] as const).map(goalAt),
    ...(['idle', 'leased', 'localOnly'] as const).map(integrationAt),
  ].map((snapshot) => progressedToClaim(snapshot));

  it.each(Object.keys(changes) as (keyof typeof changes)[])('changes neither status nor occurrence: %s', (field) => {
    for (const before of places) {
      for (const type of workerTypes) {
        const current = basisOf(before.context);
        const { snapshot } = offer(before, type, { basis: { ...current, ...changes[field](current) } });
        expect(snapshot.value).toEqual(before.value);
        expect(snapshot.context.occurrence).toEqual(before.context.occurrence);
      }
    }
  });

  it.each(workerTypes)('OCC-02: %s without a basis is refused, whatever the state', (type) => {
    for (const before of places) {
      const { change, guards } = offer(before, type, { basis: undefined });
      expect(change).toBe('unmatched');
      expect(guards.length === 0 || guards.includes('hasBasis') || guards.includes('basisCurrent')).toBe(true);
    }
  });

  it.each(Object.keys(basisSchema.shape))('OCC-02: a basis without %s is no basis', (field) => {
    const { [field as keyof Basis]: _, ...rest } = basisOf(goalAt('plan').context);
    expect(basisSchema.safeParse(rest).success).toBe(false);
  });
});

function progressedToClaim(snapshot: GoalSnapshot): GoalSnapshot {
  return snapshot.context.claim === null ? progress(snapshot).snapshot : snapshot;
}
