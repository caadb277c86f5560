import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Draft } from '../../actors/host/outcome.ts';
import { newStore } from '../persistence/support/temporaryStore.ts';
import { add, draft, openLedger, testHost, withId } from './support/testHost.ts';

const ledgers = ['L1', 'L2', 'L3'];
const anyLedger = fc.constantFrom(...ledgers);

/** Ids come from a small set, so that repeats and conflicts are frequent. */
const anyEvent: fc.Arbitrary<Draft> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(anyLedger, fc.integer({ min: 1, max: 12 })).map(([id, n]) => add(id, n, `add${n}`)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(anyLedger, fc.integer({ min: 1, max: 4 }))
      .map(([id, n]) => withId(`add${n}`, draft('ledger.noted', id))),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(anyLedger, fc.shuffledSubarray(ledgers), fc.integer({ min: 1, max: 4 }))
      .map(([id, to, n]) => withId(`pass${n}`, draft('ledger.passed', id, { amount: n, to }))),
  },
  { weight: 1, arbitrary: anyLedger.map((id) => add(id, 500, 'toobig')) },
  { weight: 1, arbitrary: anyLedger.map((id) => withId('close', draft('ledger.closed', id))) },
);

/** Groups of calls; the calls of a group are submitted together, the groups one after the other. */
const anyHistory = fc.array(
  fc.array(fc.array(anyEvent, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 }),
  {
    maxLength: 8,
  },
);

const statesOf = (host: ReturnType<typeof testHost>['host']) =>
  ledgers.map((id) => {
    const snapshot = host.snapshotOf('goal', id);
    return { version: host.versionOf('goal', id), value: snapshot?.value, context: snapshot?.context };
  });

const numRuns = process.env.CUSTODY_SOAK === '1' ? 500 : 12;

describe('CONC-04, FAULT-03: any interleaving with repeats ends like some legal order', () => {
  it('which is the order of the journal: replaying it leads to the same states, event by event', async ({
    annotate,
  }) => {
    await fc.assert(
      fc.asyncProperty(anyHistory, fc.integer({ min: 1, max: 7 }), async (history, batchEvents) => {
        const { host, store } = testHost({ store: newStore(), limits: { batchEvents: Math.max(batchEvents, 3) } });
        for (const id of ledgers) await openLedger(host, id);
        const answers = [];
        for (const group of history) answers.push(...(await Promise.all(group.map((call) => host.submit(call)))));
        const journal = store.journal.page({ limit: 1_000 });
        const replay = testHost({ store: newStore(), relaysOf: () => [] });
        for (const entry of journal) {
          if (!entry.intact) throw new Error('damaged');
          const { type, actor, producer, payload, eventId } = entry.envelope as Draft;
          const [outcome] = await replay.host.submit([{ type, actor, producer, payload, eventId }]);
          expect(outcome).toMatchObject({ outcome: entry.outcome, version: entry.version, position: entry.position });
        }
        expect(statesOf(host)).toEqual(statesOf(replay.host));
        // Each call was applied whole or not at all, and each id at most once per actor.
        for (const outcomes of answers) {
          const kinds = new Set(outcomes.map(({ outcome }) => outcome));
          if (kinds.has('rejected')) expect(kinds.has('changed') || kinds.has('noop')).toBe(false);
        }
        const applied = journal.map((entry) => entry.intact && `${entry.actor.id} ${entry.eventId}`);
        expect(new Set(applied).size).toBe(applied.length);
        expect(await store.check()).toMatchObject({ ok: true });
        for (const used of [host, replay.host]) await used.close();
        store.close();
        replay.store.close();
      }),
      { numRuns, seed: 7 },
    );
    await annotate(`${numRuns} histories`);
  }, 600_000);
});
