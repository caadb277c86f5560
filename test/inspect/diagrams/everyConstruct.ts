/** A machine with everything that a statechart can have, for what reads, places, draws and exports charts. */
import { and, not, or, setup, stateIn } from 'xstate';
import type { Charted } from '../../../inspect/diagrams/chart.ts';
import { structuralHash } from '../../../machines/structuralHash.ts';

const everything = setup({
  types: { context: {} as { readonly count: number }, events: {} as { readonly type: string } },
  guards: {
    isReady: () => true,
    isBlocked: () => false,
    atLeast: ({ context }, { least }: { least: number }) => context.count >= least,
  },
  actions: {
    note: () => undefined,
    mark: (_, _params: { colour: string }) => undefined,
  },
});

const machine = everything.createMachine({
  id: 'everything',
  initial: 'off',
  context: { count: 0 },
  on: { reset: { target: '.off', reenter: true }, '*': { actions: 'note' } },
  states: {
    off: {
      description: 'Waits for "<power> & light".',
      tags: ['dark'],
      entry: { type: 'mark', params: { colour: 'black' } },
      exit: 'note',
      on: {
        power: {
          guard: and(['isReady', or([not('isBlocked'), { type: 'atLeast', params: { least: 3 } }])]),
          target: 'on',
        },
        resume: { target: 'on.lamp.past', description: 'Goes on where it was.' },
        both: {
          target: ['on.lamp.dim', 'on.fan.fast'],
          actions: ['note', { type: 'mark', params: { colour: 'red' } }],
        },
        again: { target: 'off' },
        stay: { actions: 'note' },
      },
      after: { 250: { target: 'checking' } },
    },
    checking: {
      always: [{ guard: stateIn('off'), target: 'off' }, { guard: not('isReady'), target: 'off' }, { target: 'on' }],
    },
    on: {
      type: 'parallel',
      on: { power: 'off', inner: { target: '.fan', reenter: true } },
      onDone: 'over',
      states: {
        lamp: {
          initial: 'bright',
          states: {
            bright: { on: { dim: { guard: stateIn({ on: { fan: 'slow' } }), target: 'dim' }, stop: 'out' } },
            dim: {
              initial: 'warm',
              states: { warm: { on: { cool: 'cold' } }, cold: { on: { off: '#everything.off' } } },
            },
            past: { type: 'history', target: 'dim' },
            out: { type: 'final' },
          },
        },
        fan: {
          initial: 'slow',
          states: {
            slow: { on: { faster: 'fast' } },
            fast: { on: { slower: 'slow', stop: 'out', again: { target: 'fast', reenter: true } } },
            deep: { type: 'history', history: 'deep' },
            out: { type: 'final' },
          },
        },
      },
    },
    over: { type: 'final' },
  },
});

export const everyConstruct: Charted = {
  kind: 'everything' as Charted['kind'],
  machine,
  version: 1,
  structuralHash: structuralHash(machine),
};
