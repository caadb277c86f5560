import { describe, expect, it } from 'vitest';
import { rowsIn } from '../../../persistence/checkpoint/checkpoint.ts';
import { seeded } from '../../host/support/random.ts';
import { citedIn, everyEvent } from '../support/checkpointing.ts';
import { bundled, node } from '../support/children.ts';
import { idOf } from '../support/history.ts';
import { opened, stateDirIn, temporaryDirectory } from '../support/temporaryStore.ts';

const checkpointing = bundled('test/persistence/fixtures/checkpointing.ts', 'checkpointing');
const rounds = process.env.CUSTODY_SOAK === '1' ? 200 : 8;

/** Ids of the events that the run of life `n` and its scope were ended by. */
const endsOf = (n: number, snapshotOf: (kind: string, id: string) => string) =>
  ['run', 'executionScope'].map((kind) => {
    const { context } = JSON.parse(snapshotOf(kind, idOf(kind === 'run' ? 'R' : 'S', n)));
    return String((kind === 'run' ? context.end : context.proof).eventId);
  });

describe('RET-01, RET-02, FAULT-02: killed at any instant of a checkpoint', () => {
  it(
    `${rounds} kills: what was acknowledged is over with its evidence, the store is whole, and rows are counted right`,
    async ({ annotate }) => {
      const stateDir = stateDirIn(temporaryDirectory());
      const random = seeded(20_260_102);
      let next = 0;
      let removed = 0;
      for (let round = 0; round < rounds; round += 1) {
        const run = node(checkpointing, stateDir, String(next));
        let left = 1 + random(8);
        const acknowledged: number[] = [];
        for await (const line of run.lines) {
          acknowledged.push(Number(line));
          left -= 1;
          if (left === 0) run.process.kill('SIGKILL');
        }
        expect(await run.ended).toMatchObject({ signal: 'SIGKILL', stderr: '' });
        const store = opened({ stateDir, create: false });
        const events = everyEvent(store);
        const ids = new Set(events.map(({ eventId }) => eventId));
        const snapshotOf = (kind: string, id: string) => store.actors.read({ kind, id })!.snapshot;
        for (const n of acknowledged) for (const end of endsOf(n, snapshotOf)) expect(ids).toContain(end);
        expect(citedIn(store, ids).size).toBeGreaterThan(acknowledged.length);
        expect(rowsIn(store)).toBe(events.length);
        expect(await store.check()).toMatchObject({ ok: true });
        removed = store.journal.lastPosition() - events.length;
        // The life that was begun last may be there in part or as a whole.
        next = acknowledged.at(-1)! + 2;
        store.close();
      }
      expect(removed).toBeGreaterThan(50);
      await annotate(`${rounds} kills, ${removed} rows removed`);
    },
    rounds * 20_000,
  );
});
