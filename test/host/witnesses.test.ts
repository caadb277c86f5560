/** Observers of one tree who know nothing of each other, in every order that a busy host may take them (OWN-07, OWN-08). */
import { expect, it } from 'vitest';
import type { Draft } from '../../actors/host/outcome.ts';
import type { ScopeSnapshot } from '../../machines/executionScope.ts';
import { protocol } from '../../machines/protocol.ts';
import { scopeInput } from '../machines/support/scopeSamples.ts';
import { seeded } from './support/random.ts';
import { producer, testHost } from './support/testHost.ts';

const seeds = 1_000;

type Seen = Readonly<Record<string, string>>;

function shuffled<T>(items: readonly T[], random: (below: number) => number): T[] {
  const left = [...items];
  return items.map(() => left.splice(random(left.length), 1)[0]!);
}

it(`OWN-07 what ${seeds} interleavings of stale observers leave is everything that any of them has seen`, async () => {
  const { host } = testHost({ ...protocol });
  const random = seeded(4);
  const scopes = Array.from({ length: seeds }, (_, nth) => `S${nth}`);
  const say = (id: string, said: Pick<Draft, 'type' | 'payload' | 'eventId'>): Draft => ({
    ...said,
    actor: { kind: 'executionScope', id },
    producer,
  });
  await Promise.all(
    scopes.map((scopeId) =>
      host.submit([
        say(scopeId, { type: 'scope.requested', payload: { ...scopeInput(), scopeId }, eventId: `new:${scopeId}` }),
      ]),
    ),
  );
  const expected = new Map<string, Seen>();
  const reports = scopes.flatMap((scopeId) => {
    // Each observer tells what it knew when it looked, so the last one to speak may know the least.
    const observers: Seen[] = Array.from({ length: 3 }, () => {
      const pids = Array.from({ length: 1 + random(4) }, () => 1 + random(6));
      return Object.fromEntries(pids.map((pid) => [String(pid), `t${pid}`]));
    });
    expected.set(scopeId, Object.assign({}, ...observers));
    return observers.map((witnesses, at) =>
      say(scopeId, {
        type: 'witness.merged',
        payload: { witnesses, basisVersion: 0 },
        eventId: `seen:${scopeId}:${at}`,
      }),
    );
  });
  const outcomes = await Promise.all(shuffled(reports, random).map((report) => host.submit([report])));
  expect(outcomes.flat().filter(({ outcome }) => outcome !== 'changed' && outcome !== 'noop')).toEqual([]);
  for (const scopeId of scopes) {
    const { witnesses, witnessConflicts } = (host.snapshotOf('executionScope', scopeId) as ScopeSnapshot).context;
    expect({ scopeId, witnesses, witnessConflicts }).toEqual({
      scopeId,
      witnesses: expected.get(scopeId),
      witnessConflicts: [],
    });
  }
});
