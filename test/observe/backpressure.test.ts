import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLinuxAdapter } from '../../actors/observe/linux/adapter.ts';
import { type Observed, observations$ } from '../../actors/observe/streams/observations.ts';
import { installationIdSchema } from '../../machines/ids.ts';
import { FakeClock } from './support/fakeClock.ts';

const burst = 10_000;
const batch = 64;

describe('CONC-05: a burst against a store that takes its time', () => {
  it('slows the lane down: one batch is under way, requests merge, and nothing is lost or out of order', async () => {
    const adapter = createLinuxAdapter({ installationId: installationIdSchema.parse('Itest') });
    const identity = adapter.capture(process.pid);
    const keys = Array.from({ length: burst }, (_, index) => String(index).padStart(5, '0'));
    const passes$ = new Subject<void>();
    const delivered: string[] = [];
    let [underWay, most, passes] = [0, 0, 0];
    const deliver = async (observed: readonly Observed[]) => {
      underWay += observed.length;
      most = Math.max(most, underWay);
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      delivered.push(...observed.map(({ key }) => key));
      underWay -= observed.length;
    };
    const due = (cursor: string | null, limit: number) => {
      const from = cursor === null ? 0 : Number(cursor) + 1;
      return keys.slice(from, from + limit).map((key) => ({ key, request: { identity } }));
    };
    const lane$ = observations$({ adapter, clock: new FakeClock(), due, deliver, passes$, batch });
    const over = new Promise<void>((resolve, reject) => {
      lane$.subscribe({
        next: ({ type }) => {
          if (type === 'passEnded') passes += 1;
        },
        error: reject,
        complete: resolve,
      });
    });
    for (let nth = 0; nth < burst; nth += 1) passes$.next();
    passes$.complete();
    await over;
    expect({ most, passes }).toEqual({ most: batch, passes: 2 });
    expect(delivered).toEqual([...keys, ...keys]);
  });
});
