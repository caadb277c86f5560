import { expect, it } from 'vitest';
import { recoveryBackoffMs } from '../../machines/recoveryFenceParts.ts';
import { testTable } from './support/tableSuite.ts';
import { recoveryFenceTable } from './tables/recoveryFence.ts';

testTable(recoveryFenceTable);

it('the wait between two attempts doubles, up to the longest, however many there were (REC-09)', () => {
  const waits = [0, 1, 2, 8, 9, 10_000].map((attempts) =>
    recoveryBackoffMs(attempts, { firstMs: 1_000, mostMs: 300_000 }),
  );
  expect(waits).toEqual([1_000, 2_000, 4_000, 256_000, 300_000, 300_000]);
});
