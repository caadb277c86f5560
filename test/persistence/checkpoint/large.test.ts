import { describe, expect, it } from 'vitest';
import { checkpointed, checkpointOf } from '../support/checkpointing.ts';
import { History } from '../support/history.ts';
import { newStore } from '../support/temporaryStore.ts';

const lives = process.env.CUSTODY_SOAK === '1' ? 500 : 40;
/** With the nine others of a run and its scope 200 events a life. */
const observations = 191;

/** What docs/retention.md says of a run that is over, and of the page that a kept row lies in. */
const rowsPerLife = 12;
const bytesPerRow = 3_000;
/** A row of the deduplication table, with what its pages leave unused. */
const bytesPerEventId = 200;

describe('RET-01: a long history', () => {
  it(`${lives * 200} events: what stays is bounded by how many lived, not by what they said`, async ({ annotate }) => {
    const past = new History(newStore());
    for (let n = 0; n < lives; n += 20) {
      const together = Array.from({ length: 20 }, (_, index) => past.live(n + index, { observations }));
      await Promise.all(together);
    }
    expect(past.store.journal.lastPosition()).toBeGreaterThanOrEqual(lives * 200);
    const before = past.store.space.measure();
    const report = checkpointed(past.store, {
      rules: { newestEvents: 4, cutoffWallMs: 1_800_000_000_000 },
      bounds: { rows: 500, ms: 20 },
    });
    const after = past.store.space.measure();
    expect(report.rows.after).toBeLessThanOrEqual(lives * rowsPerLife);
    expect(report.removed.events).toBeGreaterThan(lives * 180);
    expect(after.bytes).toBeLessThan(before.bytes);
    await annotate(`${before.bytes} bytes, then ${after.bytes}; ${report.rows.after} rows in ${report.steps} steps`);
    // Most of what is left is deduplication, which a checkpoint leaves as it is (RET-03).
    expect(after.bytes).toBeLessThan(report.rows.after * bytesPerRow + report.rows.before * bytesPerEventId);
    const again = checkpointOf(past.store);
    while (again.step());
    await past.host.close();
  }, 480_000);
});
