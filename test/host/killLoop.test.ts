import { describe, expect, it } from 'vitest';
import type { Store } from '../../persistence/store.ts';
import { bundled, node } from '../persistence/support/children.ts';
import { opened, stateDirIn, temporaryDirectory } from '../persistence/support/temporaryStore.ts';
import { amountOf, callsOf, ledgers } from './support/load.ts';
import { seeded } from './support/random.ts';

const underLoad = bundled('test/host/fixtures/underLoad.ts', 'underLoad');
const rounds = process.env.CUSTODY_SOAK === '1' ? 500 : 12;

interface Answer {
  readonly eventId: string;
  readonly outcome: string;
  readonly version: number;
  readonly position?: number;
}

/** Runs a runtime under load and kills it after `answers` answered calls, at whatever it is doing then. */
async function killedAfter(answers: number, args: readonly string[]): Promise<Answer[][]> {
  const run = node(underLoad, ...args);
  const calls: Answer[][] = [];
  let left = answers;
  let isReady = false;
  // Lines that were written before the kill are still in the pipe: all of them count as acknowledged.
  for await (const line of run.lines) {
    if (line === 'ready') isReady = true;
    else calls.push(JSON.parse(line).call);
    if (isReady && line !== 'ready') left -= 1;
    if (left === 0) run.process.kill('SIGKILL');
  }
  expect(await run.ended, `${args.slice(1, 3)}, ${calls.length} answers`).toMatchObject({
    signal: 'SIGKILL',
    stderr: '',
  });
  return calls;
}

const accepted = (calls: readonly Answer[][]) =>
  calls.flat().filter(({ outcome }) => outcome === 'changed' || outcome === 'duplicate');

/** The ids of a killed round: some that were acknowledged, and those of the calls that were on their way. */
interface Round {
  readonly acknowledged: readonly string[];
  readonly unanswered: readonly string[];
}

function remembered(calls: readonly Answer[][], nextCall: () => string[]): Round {
  const acknowledged = new Set(accepted(calls).map(({ eventId }) => eventId));
  const answered = new Set(calls.flat().map(({ eventId }) => eventId));
  const sent = new Set(Array.from({ length: calls.length + 6 }, nextCall).flat());
  return {
    acknowledged: [...acknowledged].slice(-20),
    unanswered: [...sent].filter((eventId) => !answered.has(eventId)),
  };
}

/** An acknowledged event is known at the next start; one without an answer is applied now, or had been. */
function checkRepeats(answers: readonly Answer[], { acknowledged, unanswered }: Round): void {
  const outcomes = new Map(answers.map(({ eventId, outcome }) => [eventId, outcome]));
  expect(acknowledged.map((eventId) => outcomes.get(eventId))).toEqual(acknowledged.map(() => 'duplicate'));
  for (const eventId of unanswered) {
    const isAcceptable = amountOf(eventId) <= 100;
    expect(isAcceptable ? ['changed', 'duplicate'] : ['rejected']).toContain(outcomes.get(eventId));
  }
}

/** What was acknowledged is there, as acknowledged; what was refused is not. */
function checkAnswers(store: Store, calls: readonly Answer[][]): void {
  for (const { eventId, version, position } of accepted(calls)) {
    expect(store.dedup.applied(eventId)).toContainEqual(expect.objectContaining({ version, position }));
  }
}

/** What the journal has been read to say so far, so that a round costs what happened in it. */
interface Known {
  position: number;
  readonly applied: Set<string>;
  readonly ledgers: Map<string, { events: number; entries: number; total: number; last: string | null }>;
}

const nothingKnown = (): Known => ({
  position: 0,
  applied: new Set(),
  ledgers: new Map(ledgers.map((id) => [id, { events: 0, entries: 0, total: 0, last: null }])),
});

/** Positions without gaps, no event twice. */
function readOn(store: Store, known: Known): void {
  for (;;) {
    const page = store.journal.page({ after: known.position, limit: 1_000 });
    if (page.length === 0) return;
    for (const entry of page) {
      if (!entry.intact) throw new Error(`row ${entry.position} is damaged`);
      expect(entry.position).toBe(known.position + 1);
      known.position = entry.position;
      const once = `${entry.actor.id} ${entry.eventId}`;
      expect(known.applied.has(once)).toBe(false);
      known.applied.add(once);
      const ledger = known.ledgers.get(entry.actor.id);
      if (ledger === undefined) throw new Error(`${entry.actor.id} is no ledger of ours`);
      ledger.events += 1;
      if (entry.type === 'ledger.opened') continue;
      ledger.entries += 1;
      ledger.total += amountOf(entry.eventId);
      ledger.last = entry.eventId;
    }
  }
}

/** Every ledger is exactly what the journal says; a version for every event that changed it. */
function checkState(store: Store, known: Known): void {
  readOn(store, known);
  for (const [id, { events, ...context }] of known.ledgers) {
    const row = store.actors.read({ kind: 'goal', id });
    expect(row?.version).toBe(events);
    expect(JSON.parse(row?.snapshot as string).context).toMatchObject(context);
  }
}

describe('JRN-01, JRN-04, FAULT-01, FAULT-02: killed at any instant', () => {
  it(
    `${rounds} kills under load lose no acknowledged event, apply none twice and tear nothing`,
    async ({ annotate }) => {
      const stateDir = stateDirIn(temporaryDirectory());
      const random = seeded(20_240_607);
      let before: Round = { acknowledged: [], unanswered: [] };
      const known = nothingKnown();
      for (let round = 0; round < rounds; round += 1) {
        const seed = random(1_000_000);
        const repeated = [...before.acknowledged, ...before.unanswered];
        const calls = await killedAfter(1 + random(40), [stateDir, `r${round}`, String(seed), repeated.join(',')]);
        checkRepeats(calls.slice(0, repeated.length).flat(), before);
        const store = opened({ stateDir, create: false });
        checkAnswers(store, calls);
        const position = known.position;
        checkState(store, known);
        expect(known.position).toBeGreaterThan(position);
        if (round % 25 === 24) expect(await store.check()).toMatchObject({ ok: true });
        store.close();
        before = remembered(calls.slice(repeated.length), callsOf(`r${round}`, seed));
      }
      await annotate(`${rounds} kills, ${known.position} journal rows`);
    },
    rounds * 8_000,
  );
});
