import { describe, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { recoveryFenceMachine } from '../../machines/recoveryFence.ts';
import { exploreRecovery } from './support/recoveryWorld.ts';

describe('whatever a recovery meets, in any order (REC-02, REC-03, REC-04, REPL-07)', () => {
  it('launches only where nobody of an earlier incarnation is left, and believes only the tick of the replacement', async ({
    annotate,
  }) => {
    const { states, violations, refusals, recoveries } = exploreRecovery();
    await annotate(`${states} joint states, ${refusals} refusals, ${recoveries} recoveries`);
    expect(violations).toEqual([]);
    expect(refusals).toBeGreaterThan(0);
    expect(recoveries).toBeGreaterThan(0);
  });

  it.each([
    ['everyScopeProved', 'I-24'],
    ['tickFromReplacement', 'I-25'],
  ])('notices when %s is always true: %s breaks', (guard, id) => {
    const mutant = recoveryFenceMachine.provide({ guards: { [guard]: () => true } }) as AnyStateMachine;
    expect(exploreRecovery(mutant).violations.filter((broken) => broken.startsWith(id))).not.toEqual([]);
  });
});
