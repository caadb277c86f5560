import { describe, expect, it } from 'vitest';
import type { Store } from '../../persistence/store.ts';
import { bundled, node } from '../persistence/support/children.ts';
import { opened, stateDirIn, temporaryDirectory } from '../persistence/support/temporaryStore.ts';
import { amountOf, callsOf, ledgers } from './support/load.ts';
import { seeded } from './support/random.ts';

const underLoad = bundled('test/host/fixtures/underLoad.ts', 'underLoad');
const rounds = process.env.CUSTODY_SOAK === '1' ? 500 : 25;

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
  expect(await run.ended).toMatchObject({ signal: 'SIGKILL', stderr: '' });
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

/** The journal is whole, and every ledger is exactly what the journal says. */
async function checkState(store: Store): Promise<number> {
  const events: Array<{ position: number; ledger: string; eventId: string; type: string; outcome: string }> = [];
  for (let after = 0; ; ) {
    const page = store.journal.page({ after, limit: 1_000 });
    for (const entry of page) {
      if (!entry.intact) throw new Error(`row ${entry.position} is damaged`);
      events.push({ ...entry, ledger: entry.actor.id });
    }
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.position;
  }
  expect(events.map(({ position }) => position)).toEqual(events.map((_, index) => index + 1));
  expect(new Set(events.map(({ ledger, eventId }) => `${ledger} ${eventId}`)).size).toBe(events.length);
  for (const ledger of ledgers) {
    const own = events.filter((event) => event.ledger === ledger);
    const amounts = own.filter(({ type }) => type !== 'ledger.opened').map(({ eventId }) => amountOf(eventId));
    const row = store.actors.read({ kind: 'goal', id: ledger });
    expect(row?.version).toBe(own.length);
    expect(JSON.parse(row?.snapshot as string).context).toMatchObject({
      entries: amounts.length,
      total: amounts.reduce((sum, amount) => sum + amount, 0),
      last: amounts.length === 0 ? null : own.at(-1)?.eventId,
    });
  }
  expect(await store.check()).toMatchObject({ ok: true });
  return events.length;
}

describe('JRN-01, JRN-04, FAULT-01, FAULT-02: killed at any instant', () => {
  it(
    `${rounds} kills under load lose no acknowledged event, apply none twice and tear nothing`,
    async () => {
      const stateDir = stateDirIn(temporaryDirectory());
      const random = seeded(20_240_607);
      let before: Round = { acknowledged: [], unanswered: [] };
      let events = 0;
      for (let round = 0; round < rounds; round += 1) {
        const seed = random(1_000_000);
        const repeated = [...before.acknowledged, ...before.unanswered];
        const calls = await killedAfter(1 + random(40), [stateDir, `r${round}`, String(seed), repeated.join(',')]);
        checkRepeats(calls.slice(0, repeated.length).flat(), before);
        const store = opened({ stateDir, create: false });
        checkAnswers(store, calls);
        const now = await checkState(store);
        expect(now).toBeGreaterThan(events);
        events = now;
        store.close();
        before = remembered(calls.slice(repeated.length), callsOf(`r${round}`, seed));
      }
    },
    rounds * 8_000,
  );
});
