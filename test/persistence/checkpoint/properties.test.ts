import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { takersOf } from '../../../machines/events/catalogue.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import { landmarks } from '../../../machines/landmarks.ts';
import { rowsIn } from '../../../persistence/checkpoint/checkpoint.ts';
import { TextSet, textsIn } from '../../../persistence/checkpoint/textSet.ts';
import { checkpointed, citedIn, everyEvent, everySnapshot, later } from '../support/checkpointing.ts';
import { History, idOf } from '../support/history.ts';
import { newStore } from '../support/temporaryStore.ts';

const soak = process.env.CUSTODY_SOAK === '1';

const lives = fc.array(
  fc.record({
    observations: fc.nat(30),
    ends: fc.boolean(),
    /** Nested in an earlier one, or not. */
    parent: fc.option(fc.nat(9), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 10 },
);

describe('RET-02, OWN-02: whatever lived, and in whatever steps', () => {
  it(
    'every event id that any snapshot cites is in the journal afterwards, and what is live has all of its own',
    async () => {
      const property = fc.asyncProperty(
        lives,
        fc.integer({ min: 1, max: 40 }),
        fc.nat(6),
        async (all, rows, newest) => {
          const past = new History(newStore());
          for (const [n, { parent, ...life }] of all.entries()) {
            const parentScopeId = parent === undefined || parent >= n ? null : idOf('S', parent);
            await past.live(n, { ...life, parentScopeId });
          }
          const before = everyEvent(past.store);
          const cited = citedIn(past.store, new Set(before.map(({ eventId }) => eventId)));
          const snapshots = everySnapshot(past.store);
          const rules = { newestEvents: newest, cutoffWallMs: later };
          checkpointed(past.store, { rules, bounds: { rows, ms: 1_000 } });
          const after = everyEvent(past.store);
          const left = new Set(after.map(({ eventId }) => eventId));
          expect([...cited].filter((eventId) => !left.has(eventId))).toEqual([]);
          expect(everySnapshot(past.store)).toEqual(snapshots);
          expect(rowsIn(past.store)).toBe(after.length);
          for (const [n, { ends }] of all.entries()) {
            const of = (events: typeof before) =>
              events.filter(({ actor }) => actor === `executionScope ${idOf('S', n)}`);
            if (!ends) expect(of(after)).toEqual(of(before));
          }
          expect(await past.store.check()).toMatchObject({ ok: true });
          await past.host.close();
          past.store.close();
        },
      );
      await fc.assert(property, { numRuns: soak ? 300 : 6, seed: 20_260_101 });
    },
    soak ? 1_800_000 : 120_000,
  );
});

describe('the set of cited texts', () => {
  it('has everything that was added, and hardly anything else', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 60 }), { maxLength: 200 }), (texts) => {
        const set = new TextSet(texts.length);
        for (const text of texts) set.add(text);
        expect(texts.filter((text) => !set.has(text))).toEqual([]);
      }),
    );
    const set = new TextSet(100_000);
    for (let n = 0; n < 100_000; n += 1) set.add(`I0123456789:er:S${n}:${n * 7}`);
    let strangers = 0;
    for (let n = 0; n < 10_000; n += 1) if (set.has(`go:S${n}:1.1.${n}`)) strangers += 1;
    expect(strangers).toBeLessThan(200);
  });

  it('finds every text of a JSON text, names and escapes included', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.array(fc.string()))), (value) => {
        const found = new Set(textsIn(JSON.stringify(value)));
        const texts = Object.entries(value).flatMap(([name, text]) => [name, ...(Array.isArray(text) ? text : [text])]);
        expect(texts.filter((text) => !found.has(text))).toEqual([]);
      }),
    );
  });
});

it('landmarks are events that their actor takes', () => {
  for (const [kind, types] of Object.entries(landmarks)) {
    for (const type of Object.keys(types)) expect(takersOf(type as never), type).toContain(kind as ActorKind);
  }
});
