/**
 * CONC-04: sightings repeat, arrive late and overtake each other; what they are sightings of happened in one order, and
 * commands are given one after the other. Whatever the arrival, the end is that of the order in which it happened.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assessOwnership } from '../../machines/assessment.ts';
import { jointEvents } from './support/jointEvents.ts';
import { createMemoryHost, type Pair } from './support/memoryHost.ts';

interface Happening {
  readonly name: string;
  /** Given by somebody who waits for the answer; everything else may be heard of late, and more than once. */
  readonly isCommand: boolean;
}

const command = (name: string): Happening => ({ name, isCommand: true });
const sighting = (name: string): Happening => ({ name, isCommand: false });
const launch = [command('prepared'), command('attached'), command('bound and released')];

const histories: Readonly<Record<string, readonly Happening[]>> = {
  'a job that ends by itself': [
    ...launch,
    ...['guardian seen alive', 'process seen alive', 'witness', 'status receipt, ran true', 'exit reported'].map(
      sighting,
    ),
    ...['process seen ended', 'exit receipt, ran true', 'guardian seen absent', 'gap: guardian gone'].map(sighting),
  ],
  'a job that is stopped': [
    ...launch,
    ...['guardian seen alive', 'process seen alive'].map(sighting),
    command('drain: stop'),
    ...['drain quiesced', 'drain signalled', 'status receipt, ran true', 'process seen ended'].map(sighting),
    ...['exit receipt, ran true', 'guardian seen absent'].map(sighting),
  ],
  'a stop that stalls and is asked for again': [
    ...launch,
    command('drain: stop'),
    ...['drain quiesced', 'drain budget exhausted'].map(sighting),
    command('drain: stop'),
    ...['status receipt, ran true', 'exit receipt, ran true'].map(sighting),
  ],
  'a guardian that is lost, and the enclosing receipt': [
    ...launch,
    ...['guardian seen alive', 'guardian unseen', 'guardian seen absent', 'process seen ended'].map(sighting),
    ...['process unseen', 'enclosing receipt'].map(sighting),
  ],
  'a machine that restarts': [
    ...launch,
    ...['process seen alive', 'guardian unseen', 'another boot', 'process seen ended'].map(sighting),
  ],
  'a launch that is given up': [
    command('prepared'),
    command('attached'),
    command('drain: stop'),
    command('abandoned'),
    ...['status receipt, ran false', 'exit receipt, ran false', 'guardian seen absent'].map(sighting),
  ],
  'a gate that its guardian closes': [
    command('prepared'),
    command('attached'),
    ...['status receipt, ran false', 'exit receipt, ran false', 'guardian seen absent', 'another boot'].map(sighting),
  ],
};

const host = createMemoryHost();
const eventOf = new Map(jointEvents.map((event) => [event.name, event]));

function deliver(names: readonly string[]): Pair {
  let pair = host.start;
  let refused: readonly string[] = names;
  // A refusal is no answer for good: senders of facts offer them again until nothing is accepted any more.
  for (let before: Pair | undefined; before !== pair; ) {
    before = pair;
    refused = refused.filter((name) => {
      const event = eventOf.get(name);
      if (event === undefined) throw new Error(`no event is called ${name}`);
      const next = host.submit(pair, event);
      pair = next ?? pair;
      return next === undefined;
    });
  }
  return pair;
}

/** Which evidence came first may differ, so may the gaps that were passed through, and a proof needs no late witness. */
function ending(pair: Pair) {
  const { value, context } = host.scope(pair);
  return {
    assessment: assessOwnership(host.scope(pair)).state,
    workload: value.workload,
    termination: value.termination,
    run: host.run(pair).value,
    released: context.released,
  };
}

/** Commands in their order; sightings not before they happened, one to three times, however late. */
const arrivalsOf = (history: readonly Happening[]): fc.Arbitrary<readonly string[]> =>
  fc
    .tuple(
      ...history.map(({ name, isCommand }, place) =>
        isCommand
          ? fc.constant([{ name, at: place }])
          : fc.array(
              fc.nat(1_000).map((delay) => ({ name, at: place + (delay * history.length) / 1_000 })),
              { minLength: 1, maxLength: 3 },
            ),
      ),
    )
    .map((arrivals) =>
      arrivals
        .flat()
        .sort((a, b) => a.at - b.at)
        .map(({ name }) => name),
    );

describe('late, repeated and overtaking sightings (CONC-04)', () => {
  it.each(Object.entries(histories))('come to the same end: %s', (_, history) => {
    const inOrder = ending(deliver(history.map(({ name }) => name)));
    expect(inOrder.assessment).toBe('exited');
    fc.assert(
      fc.property(arrivalsOf(history), (arrivals) => {
        expect(ending(deliver(arrivals))).toEqual(inOrder);
      }),
      { numRuns: 200, seed: 11 },
    );
  });

  it('cannot make up for evidence that never comes (OWN-04)', () => {
    const history = histories['a job that ends by itself'] as readonly Happening[];
    const withoutProof = history.filter(({ name }) => name !== 'exit receipt, ran true');
    fc.assert(
      fc.property(arrivalsOf(withoutProof), (arrivals) => {
        expect(ending(deliver(arrivals))).toMatchObject({ assessment: 'unverified', run: { lifecycle: 'ended' } });
      }),
      { numRuns: 200, seed: 11 },
    );
  });
});
