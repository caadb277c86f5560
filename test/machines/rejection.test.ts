import { describe, expect, it } from 'vitest';
import { type AnyMachineSnapshot, type AnyStateMachine, and, not, or, setup, stateIn } from 'xstate';
import { executionScopeMachine } from '../../machines/executionScope.ts';
import { whyRejected } from '../../machines/rejection.ts';
import { runMachine } from '../../machines/run.ts';
import { start } from '../../machines/step.ts';
import { exitReceipt } from './support/evidence.ts';
import {
  bound,
  drain,
  eventOf,
  launch,
  playRun,
  playScope,
  prepared,
  rootEnded,
  type Told,
  treeEnded,
} from './support/play.ts';
import { scopeInput } from './support/scopeSamples.ts';

const why = (machine: AnyStateMachine, snapshot: AnyMachineSnapshot, told: Told) =>
  whyRejected(machine, snapshot, eventOf(told, 'e'));

describe('why an event changed nothing (K3)', () => {
  it('is that no chart of the kind knows it', () => {
    const { snapshot } = playRun([]);
    expect(whyRejected(runMachine, snapshot, { type: 'drain.requested', eventId: 'e' })).toEqual({
      reason: 'unknown_event',
      guards: [],
    });
  });

  it('is that no active state takes it', () => {
    expect(why(runMachine, playRun([]).snapshot, rootEnded)).toEqual({ reason: 'not_in_state', guards: [] });
    expect(why(runMachine, playRun([bound, rootEnded]).snapshot, bound)).toEqual({
      reason: 'not_in_state',
      guards: [],
    });
  });

  it('is the one guard among several that said no', () => {
    const partial: Told = ['guardian.exitReceipt', exitReceipt({ complete: false })];
    expect(why(executionScopeMachine, playScope(launch).snapshot, partial)).toEqual({
      reason: 'guard_refused',
      guards: ['receiptComplete'],
    });
    const external = playScope([], { kind: 'external' }).snapshot;
    expect(why(executionScopeMachine, external, prepared).guards).toEqual(['platformCovered']);
    expect(why(executionScopeMachine, playScope([drain('stop')]).snapshot, prepared).guards).toEqual([
      'in termination.idle',
    ]);
  });

  it('names a condition on another region, and one that must not hold as such', () => {
    expect(why(executionScopeMachine, playScope([]).snapshot, ['launch.releaseCommitted', {}])).toEqual({
      reason: 'guard_refused',
      guards: ['in coverage.gated'],
    });
    const proved = playScope([...launch, treeEnded]).snapshot;
    const told: Told = ['witness.merged', { witnesses: {}, basisVersion: 1 }];
    expect(why(executionScopeMachine, proved, told).guards).toEqual(['not in coverage.exitedProved']);
  });

  it('is that the snapshot is over', () => {
    const { snapshot } = start(executionScopeMachine, scopeInput());
    const over = { ...snapshot, status: 'done' } as AnyMachineSnapshot;
    expect(why(executionScopeMachine, over, prepared)).toEqual({ reason: 'terminal', guards: [] });
  });
});

/** `yes` and `no` answer as they are called; `asked` answers its params. */
const oracle = setup({
  types: { context: {} as { limit: number }, events: {} as { type: string; count?: number } },
  guards: {
    yes: () => true,
    no: () => false,
    alsoNo: () => false,
    asked: (_, params: { answer: boolean }) => params.answer,
    combined: and(['yes', 'no']),
  },
});

const rows = {
  plain: 'no',
  both: and(['no', 'alsoNo']),
  oneOfTwo: and(['yes', 'no']),
  neither: or(['no', 'alsoNo']),
  negated: not('yes'),
  notBoth: not(and(['yes', 'yes'])),
  notEither: not(or(['no', 'yes'])),
  doubleNot: not(not('no')),
  nested: and(['yes', or(['no', and(['yes', 'alsoNo'])])]),
  fulfilledOr: and([or(['yes', 'no']), 'alsoNo']),
  elsewhere: stateIn({ left: 'b' }),
  notHere: not(stateIn({ left: 'a' })),
  params: { type: 'asked', params: { answer: false } },
  dynamic: { type: 'asked', params: ({ context }: { context: { limit: number } }) => ({ answer: context.limit > 5 }) },
  named: 'combined',
  notNamed: and(['yes', not('yes'), 'combined']),
} as const;

const machine = oracle.createMachine({
  id: 'oracle',
  type: 'parallel',
  context: { limit: 3 },
  states: {
    left: {
      initial: 'a',
      on: Object.fromEntries(
        Object.entries(rows).map(([event, guard]) => [event, { guard: guard as 'no', target: '.b' }]),
      ),
      states: { a: {}, b: {} },
    },
    right: { on: { twice: [{ guard: 'no' }, { guard: 'alsoNo' }, { guard: and(['no', 'yes']) }] } },
  },
}) as AnyStateMachine;

describe('the guards that are blamed', () => {
  const { snapshot } = start(machine, undefined);
  it.each<readonly [keyof typeof rows | 'twice', readonly string[]]>([
    ['plain', ['no']],
    ['both', ['no', 'alsoNo']],
    ['oneOfTwo', ['no']],
    ['neither', ['no', 'alsoNo']],
    ['negated', ['not yes']],
    ['notBoth', ['not yes']],
    ['notEither', ['not yes']],
    ['doubleNot', ['no']],
    ['nested', ['no', 'alsoNo']],
    ['fulfilledOr', ['alsoNo']],
    ['elsewhere', ['in left.b']],
    ['notHere', ['not in left.a']],
    ['params', ['asked']],
    ['dynamic', ['asked']],
    ['named', ['combined']],
    ['notNamed', ['not yes', 'combined']],
    ['twice', ['no', 'alsoNo']],
  ])('are exactly the leaves that said no: %s', (type, guards) => {
    const event = { type, eventId: 'e' };
    expect(whyRejected(machine, snapshot, event)).toEqual({ reason: 'guard_refused', guards });
  });
});
