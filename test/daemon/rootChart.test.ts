/** The daemon's own chart against C.9, as a table: from where, by what, to where; what is not listed changes nothing. */
import { describe, expect, it } from 'vitest';
import { createActor, initialTransition, transition } from 'xstate';
import { type RootEvent, rootMachine } from '../../actors/daemon/root.ts';

const intent = { verb: 'stop', via: 'direct' } as const;
const events = {
  recovered: { type: 'recovery.completed' },
  stop: { type: 'shutdown.requested', intent },
  settled: { type: 'drain.workersSettled' },
  proved: { type: 'ownership.rescanned', blocked: [] },
  unproved: { type: 'ownership.rescanned', blocked: ['S1'] },
  failed: { type: 'drain.failed', failure: { reason: 'store_busy', scopeIds: [] } },
  abandoned: { type: 'shutdown.abandoned' },
  commanded: { type: 'service.commandIssued' },
  exited: { type: 'daemon.exited' },
  storeFailed: { type: 'store.failed' },
  storeRecovered: { type: 'store.recovered' },
  paused: { type: 'admission.paused' },
  resumed: { type: 'admission.resumed' },
  drainStarted: { type: 'drain.started' },
  drainEnded: { type: 'drain.ended' },
} as const satisfies Record<string, RootEvent>;
type Word = keyof typeof events;

/** How each state is come to. */
const paths = {
  recovering: [],
  serving: ['recovered'],
  paused: ['recovered', 'paused'],
  degraded: ['recovered', 'storeFailed'],
  pausedAndDegraded: ['recovered', 'paused', 'storeFailed'],
  draining: ['recovered', 'stop'],
  drainingAgain: ['recovered', 'stop', 'failed', 'stop'],
  rescan: ['recovered', 'stop', 'settled'],
  drainBlocked: ['recovered', 'stop', 'settled', 'unproved'],
  drained: ['recovered', 'stop', 'settled', 'proved'],
  drainedAlone: ['recovered', 'drainStarted'],
  drainedPaused: ['recovered', 'paused', 'drainStarted'],
  stopped: ['recovered', 'stop', 'settled', 'proved', 'exited'],
} as const satisfies Record<string, readonly Word[]>;
type From = keyof typeof paths;

const start = () => initialTransition(rootMachine, { pausedBefore: false })[0];
const reachedBy = (words: readonly Word[]) =>
  words.reduce((snapshot, word) => transition(rootMachine, snapshot, events[word])[0], start());

function shown({ value }: ReturnType<typeof start>): string {
  const lifecycle = typeof value.lifecycle === 'string' ? value.lifecycle : `draining.${value.lifecycle.draining}`;
  return [lifecycle, value.admission, value.maintenance].join(' ');
}

const table: Readonly<Record<From, Partial<Record<Word, string>>>> = {
  recovering: {
    recovered: 'serving open running',
    stop: 'draining.workers closed running',
  },
  serving: {
    stop: 'draining.workers closed running',
    storeFailed: 'degraded closed running',
    paused: 'serving paused running',
    drainStarted: 'serving draining running',
  },
  paused: {
    stop: 'draining.workers closed running',
    storeFailed: 'degraded paused running',
    resumed: 'serving open running',
    drainStarted: 'serving draining running',
  },
  degraded: { stop: 'draining.workers closed running', storeRecovered: 'serving open running' },
  pausedAndDegraded: {
    stop: 'draining.workers closed running',
    storeRecovered: 'serving paused running',
    drainStarted: 'degraded draining running',
  },
  draining: {
    settled: 'draining.rescan closed running',
    failed: 'drainBlocked closed running',
    storeFailed: 'drainBlocked closed running',
  },
  drainingAgain: {
    settled: 'draining.rescan closed running',
    failed: 'drainBlocked closed running',
    storeFailed: 'drainBlocked closed running',
  },
  rescan: {
    proved: 'drained closed running',
    unproved: 'drainBlocked closed running',
    failed: 'drainBlocked closed running',
    storeFailed: 'drainBlocked closed running',
  },
  drainBlocked: { stop: 'draining.workers closed running', abandoned: 'serving paused running' },
  drained: { commanded: 'stopped closed off', exited: 'stopped closed off' },
  drainedAlone: {
    stop: 'draining.workers closed running',
    storeFailed: 'degraded draining running',
    drainEnded: 'serving open running',
  },
  drainedPaused: {
    stop: 'draining.workers closed running',
    storeFailed: 'degraded draining running',
    drainEnded: 'serving paused running',
  },
  stopped: {},
};

const cells = (Object.keys(paths) as From[]).flatMap((from) =>
  (Object.keys(events) as Word[]).map((word) => [from, word, table[from][word]] as const),
);

describe('C.9: the chart of the daemon', () => {
  it.each(cells)('%s, %s', (from, word, to) => {
    const before = reachedBy(paths[from]);
    expect(shown(transition(rootMachine, before, events[word])[0])).toBe(to ?? shown(before));
  });

  it('a pause that was there before, or comes while nothing is admitted anyway, is not forgotten', () => {
    const [before] = initialTransition(rootMachine, { pausedBefore: true });
    expect(shown(transition(rootMachine, before, events.recovered)[0])).toBe('serving paused running');
    const meanwhile = ['recovered', 'drainStarted', 'paused', 'drainEnded'] as const;
    expect(shown(reachedBy(meanwhile))).toBe('serving paused running');
    const busy = ['recovered', 'storeFailed', 'paused', 'storeRecovered'] as const;
    expect(shown(reachedBy(busy))).toBe('serving paused running');
    expect(shown(reachedBy(['recovered', 'paused', 'drainStarted', 'resumed', 'drainEnded']))).toBe(
      'serving open running',
    );
  });

  it('a store that fails while a drain of its own goes on opens nothing, and its recovery does', () => {
    const failing = ['recovered', 'drainStarted', 'storeFailed', 'drainEnded'] as const;
    expect(shown(reachedBy(failing))).toBe('degraded closed running');
    expect(shown(reachedBy([...failing, 'storeRecovered']))).toBe('serving open running');
  });

  it('keeps what was asked for and why it came to nothing, until it is given up or asked for again', () => {
    const { context } = reachedBy(paths.drainBlocked);
    expect(context).toMatchObject({ intent, failure: { reason: 'not_proved', scopeIds: ['S1'] } });
    expect(reachedBy([...paths.drainBlocked, 'stop']).context).toMatchObject({ intent, failure: null });
    expect(reachedBy([...paths.drainBlocked, 'abandoned']).context).toMatchObject({ intent: null, failure: null });
    expect(reachedBy([...paths.draining, 'storeFailed']).context.failure).toEqual({
      reason: 'store_failed',
      scopeIds: [],
    });
  });

  it('every waiting state is described', () => {
    const actor = createActor(rootMachine, { input: { pausedBefore: false } });
    for (const node of Object.values(actor.logic.states)) {
      for (const state of Object.values(node.states)) expect(state.description, state.id).toBeTruthy();
    }
  });
});
