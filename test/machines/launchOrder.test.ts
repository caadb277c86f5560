import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JointEvent } from './support/jointEvents.ts';
import { jointEvents } from './support/jointEvents.ts';
import { createMemoryHost, type Pair } from './support/memoryHost.ts';

const named = (name: string): JointEvent => {
  const found = jointEvents.find((event) => event.name === name);
  if (found === undefined) throw new Error(`no event is called ${name}`);
  return found;
};

const host = createMemoryHost();
const outcome = (pair: Pair) => ({
  coverage: host.scope(pair).value.coverage,
  termination: host.scope(pair).value.termination,
  lifecycle: host.run(pair).value.lifecycle,
  released: host.scope(pair).context.released,
});

/** Goes on after refusals, as the senders do. */
const told = (names: readonly string[]): Pair =>
  names.reduce((pair, name) => host.submit(pair, named(name)) ?? pair, host.start);

const order = ['prepared', 'attached', 'bound and released'] as const;
const neverRan = { coverage: 'neverLaunched', termination: 'settled', lifecycle: 'cancelled', released: 'no' };

describe('a stop that races the launch (ruling 4)', () => {
  it.each([0, 1, 2])('leads to never launched where it comes after %i steps', (steps) => {
    const stopped = [...order.slice(0, steps), 'drain: stop', ...order.slice(steps)];
    const pair = told(stopped);
    expect(outcome(pair)).toMatchObject({ termination: 'quiescing', released: 'no' });
    expect(outcome(pair).lifecycle).toEqual({ reserved: 'pending' });
    expect(outcome(told([...stopped, 'abandoned']))).toEqual(neverRan);
  });

  it('ends what was released before it, and cannot be abandoned any more (GRD-07)', () => {
    const pair = told([...order, 'drain: stop', 'abandoned']);
    expect(outcome(pair)).toEqual({
      coverage: 'live',
      termination: 'quiescing',
      lifecycle: 'bound',
      released: 'committed',
    });
    const ended = told([...order, 'drain: stop', 'exit receipt, ran true']);
    expect(outcome(ended)).toMatchObject({ coverage: 'exitedProved', termination: 'settled', lifecycle: 'ended' });
  });

  it('never lets a gate open after it, in any order of all that may come (GRD-06, GRD-07, I-04)', () => {
    const launch = fc.shuffledSubarray([...order, ...order, 'abandoned', 'guardian unseen'], { minLength: 1 });
    fc.assert(
      fc.property(launch, launch, (first, second) => {
        const stopped = told([...first, 'drain: stop']);
        const later = second.reduce((pair, name) => host.submit(pair, named(name)) ?? pair, stopped);
        expect(host.scope(later).context.released).toBe(host.scope(stopped).context.released);
        const isCancelled = host.run(later).matches({ lifecycle: 'cancelled' });
        expect(isCancelled && host.scope(later).context.released !== 'no').toBe(false);
      }),
      { numRuns: 300, seed: 4 },
    );
  });
});

describe('a launch', () => {
  it('binds and releases in one commit or not at all (ruling 6, I-38)', () => {
    const early = told(['prepared', 'bound and released']);
    expect(outcome(early)).toMatchObject({ coverage: 'launching', lifecycle: { reserved: 'pending' }, released: 'no' });
    expect(host.run(early).context.identity).toBeNull();
    expect(outcome(told(order))).toMatchObject({ coverage: 'live', lifecycle: 'bound', released: 'committed' });
  });

  it.each<readonly [string, readonly string[]]>([
    ['spawning failed', ['prepared', 'not started']],
    ['its guardian never reported (GRD-08)', ['prepared', 'abandoned']],
    ['it was given up behind the gate', ['prepared', 'attached', 'abandoned']],
    ['the guardian closed its gate (GRD-06)', ['prepared', 'attached', 'exit receipt, ran false']],
    ['its guardian was lost behind the gate', ['prepared', 'attached', 'guardian seen absent', 'abandoned']],
  ])('that came to nothing cancels its run: %s (RUN-04)', (_, story) => {
    expect(outcome(told(story))).toEqual(neverRan);
  });

  it.each<readonly [string, readonly string[]]>([
    ['delivery was uncertain', [...order, 'release uncertain']],
    ['its guardian was lost', [...order, 'guardian seen absent']],
    ['its guardian is out of sight', [...order, 'guardian unseen']],
  ])('that was released cannot be abandoned: %s (GRD-07)', (_, story) => {
    const pair = told(story);
    expect(host.submit(pair, named('abandoned'))).toBeUndefined();
    expect(host.run(pair).value.lifecycle).toBe('bound');
  });

  it('whose image never ran although it was released ends its run by the status (ruling 7)', () => {
    const pair = told([...order, 'status receipt, ran false', 'exit receipt, ran false']);
    expect(outcome(pair)).toMatchObject({ coverage: 'exitedProved', lifecycle: 'ended' });
    expect(host.run(pair).context.end).toMatchObject({ evidence: 'status_receipt', reason: 'notReleased' });
  });

  it('that lost its guardian stays unverified after everybody is gone, until authentic evidence (GRD-10)', () => {
    const gone = [...order, 'guardian seen absent', 'process seen ended', 'drain: stop', 'drain quiesced'];
    expect(outcome(told(gone))).toMatchObject({ coverage: { unverified: 'gap' }, lifecycle: 'ended' });
    for (const proof of ['exit receipt, ran true', 'enclosing receipt', 'another boot']) {
      expect(outcome(told([...gone, proof]))).toMatchObject({ coverage: 'exitedProved', termination: 'settled' });
    }
  });

  it('of others is unverified from the start, and no drain proves anything about it (GRD-11)', () => {
    const external = createMemoryHost({ input: { kind: 'external' } });
    const registered: JointEvent = {
      name: 'registered',
      call: [{ to: 'executionScope', told: ['scope.registeredExternally', { reason: 'external' }] }],
      when: () => true,
    };
    const drained = ['drain: stop', 'drain quiesced', 'drain signalled', 'exit receipt, ran true', 'another boot'];
    const pair = [registered, ...drained.map(named)].reduce(
      (at, event) => external.submit(at, event) ?? at,
      external.start,
    );
    expect(external.scope(pair).value).toMatchObject({
      coverage: { unverified: 'gap' },
      termination: 'awaitingProof',
    });
  });
});
