import { describe, expect, it } from 'vitest';
import { type AnyMachineSnapshot, type AnyStateMachine, assign, setup } from 'xstate';
import { executionScopeDefinition, executionScopeMachine } from '../../machines/executionScope.ts';
import { runDefinition, runMachine } from '../../machines/run.ts';
import { fromPersisted, SnapshotError, start, step, toPersisted } from '../../machines/step.ts';
import { drain, eventOf, launch, playRun, playScope, prepared, released, type Told } from './support/play.ts';
import { scopeInput } from './support/scopeSamples.ts';
import { walk } from './support/walk.ts';
import { executionScopeTable } from './tables/executionScope.ts';

/** A chart that does everything wrong that an implementation can do wrong. */
const brittle = setup({
  types: { context: {} as { count: number }, events: {} as { type: string } },
  guards: {
    explodes: () => {
      throw new Error('guard went off');
    },
  },
  actions: {
    count: assign(({ context }) => ({ count: context.count + 1 })),
    explode: assign(() => {
      throw new Error('action went off');
    }),
    openGate: (_, _params: { scopeId: string }) => {},
    writeFile: () => {},
  },
}).createMachine({
  id: 'brittle',
  context: { count: 0 },
  initial: 'open',
  states: {
    open: {
      on: {
        guarded: { guard: 'explodes', target: 'shut' },
        broken: { actions: ['count', { type: 'openGate', params: { scopeId: 'S1' } }, 'explode'] },
        counted: { actions: ['count'] },
        asked: { actions: [{ type: 'openGate', params: { scopeId: 'S2' } }] },
        unknown: { actions: ['count', 'writeFile'] },
        finished: { target: 'shut' },
      },
    },
    shut: { type: 'final' },
  },
  on: { late: { actions: ['count'] } },
});

const opened = (): AnyMachineSnapshot => start(brittle, undefined).snapshot;
const take = (snapshot: AnyMachineSnapshot, type: string) => step(brittle, snapshot, { type, eventId: type });

describe('a step with the reused scope', () => {
  it('lets a throwing guard out and leaves the snapshot as it was', () => {
    const snapshot = opened();
    const before = JSON.stringify(toPersisted({ machine: brittle }, snapshot));
    expect(() => take(snapshot, 'guarded')).toThrow('guard went off');
    expect(JSON.stringify(toPersisted({ machine: brittle }, snapshot))).toBe(before);
    expect(snapshot.status).toBe('active');
  });

  it('lets a throwing action out and drops the effects that were gathered before it', () => {
    const snapshot = opened();
    expect(() => take(snapshot, 'broken')).toThrow('action went off');
    expect(snapshot.context).toEqual({ count: 0 });
    expect(take(snapshot, 'asked').effects).toEqual([{ type: 'openGate', params: { scopeId: 'S2' } }]);
    expect(take(snapshot, 'counted').effects).toEqual([]);
  });

  it('carries nothing from one call into the next, whatever came before', () => {
    const snapshot = opened();
    const alone = take(snapshot, 'counted');
    for (const type of ['guarded', 'broken', 'unknown']) expect(() => take(snapshot, type)).toThrow();
    take(snapshot, 'asked');
    take(snapshot, 'nothing');
    const again = take(snapshot, 'counted');
    expect(again.effects).toEqual(alone.effects);
    expect(toPersisted({ machine: brittle }, again.snapshot)).toEqual(
      toPersisted({ machine: brittle }, alone.snapshot),
    );
  });

  it('refuses an action that is neither an assignment nor an effect (JRN-11)', () => {
    expect(() => take(opened(), 'unknown')).toThrow(expect.objectContaining({ code: 'action_unknown' }));
  });

  it('refuses a snapshot that is over: the root handlers of a finished chart would still run (JRN-12)', () => {
    const { snapshot } = take(opened(), 'finished');
    expect(snapshot.status).toBe('done');
    expect(() => take(snapshot, 'late')).toThrow(expect.objectContaining({ code: 'snapshot_not_active' }));
  });
});

describe('what became of an event', () => {
  const answer = (story: readonly Told[], told: Told) => {
    const { snapshot } = playScope(story);
    return { before: snapshot, ...step(executionScopeMachine, snapshot, eventOf(told, 'e')) };
  };

  it('is unmatched with the very same snapshot where nothing lists it (K3, JRN-12)', () => {
    const { before, snapshot, change, effects } = answer([], released);
    expect(change).toBe('unmatched');
    expect(snapshot).toBe(before);
    expect(effects).toEqual([]);
  });

  it('is a noop where it was listed and nothing differs afterwards', () => {
    expect(answer([...launch, drain('stop')], drain('stop')).change).toBe('noop');
  });

  it('is a change where a state, the context or an effect is new', () => {
    expect(answer([], prepared).change).toBe('changed');
    expect(answer(launch, ['launch.releaseUncertain', { errno: 'EPIPE' }]).change).toBe('changed');
    expect(take(opened(), 'asked').change).toBe('changed');
  });

  it('does not depend on the order of keys in a parallel state value (K8)', () => {
    const { snapshot } = playScope([...launch, drain('stop')]);
    const row = toPersisted(executionScopeDefinition, snapshot);
    const value = Object.fromEntries(Object.entries(row.value as object).reverse());
    const restored = fromPersisted(executionScopeDefinition, JSON.stringify({ ...row, value }));
    expect(step(executionScopeMachine, restored, eventOf(drain('stop'), 'e')).change).toBe('noop');
  });
});

describe('a snapshot in a row', () => {
  it('comes back the same from every situation of a scope, and goes on the same (JRN-02)', () => {
    const situations = new Set<AnyMachineSnapshot>();
    walk(executionScopeTable, {
      onStep: ({ snapshot }) => {
        situations.add(snapshot);
        return false;
      },
    });
    const rowOf = (snapshot: AnyMachineSnapshot) => JSON.stringify(toPersisted(executionScopeDefinition, snapshot));
    const changed = [...situations].filter((snapshot) => {
      const text = rowOf(snapshot);
      return rowOf(fromPersisted(executionScopeDefinition, text)) !== text;
    });
    expect(changed).toEqual([]);
    expect(situations.size).toBeGreaterThan(100);
  });

  it('goes on as if it had never been away', () => {
    const { snapshot } = playRun([['admission.uncertain', { reason: 'launcher_lost' }]]);
    const restored = fromPersisted(runDefinition, JSON.stringify(toPersisted(runDefinition, snapshot)));
    const event = eventOf(['exit.reported', { exitCode: 1, signal: null, reporter: 'launcher' }], 'e');
    expect(toPersisted(runDefinition, step(runMachine, restored, event).snapshot)).toEqual(
      toPersisted(runDefinition, step(runMachine, snapshot, event).snapshot),
    );
  });

  it('is refused by the name of a state that the chart does not have', () => {
    const row = toPersisted(executionScopeDefinition, playScope(launch).snapshot);
    const removed = { ...row, value: { ...(row.value as object), coverage: 'thawed' } };
    const attempt = () => fromPersisted(executionScopeDefinition, JSON.stringify(removed));
    expect(attempt).toThrow(SnapshotError);
    expect(attempt).toThrow(/thawed/);
  });

  it.each(['error', 'done', 'stopped'])('with status %s is not stepped', (status) => {
    const row = { ...toPersisted(runDefinition, playRun([]).snapshot), status };
    const attempt = () =>
      step(runMachine, fromPersisted(runDefinition, JSON.stringify(row)), { type: 'x', eventId: 'e' });
    expect(attempt).toThrow(SnapshotError);
  });

  it('is refused where an initial action fails', () => {
    const failing = executionScopeMachine.provide({
      actions: {
        requestLaunch: assign(() => {
          throw new Error('no');
        }) as never,
      },
    }) as AnyStateMachine;
    expect(() => start(failing, scopeInput())).toThrow();
  });
});
