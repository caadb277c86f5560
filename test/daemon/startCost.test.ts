import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { Findings } from '../../actors/daemon/findings.ts';
import { rebuildMissingScopes } from '../../actors/daemon/rebuilt.ts';
import { recover } from '../../actors/daemon/recovery.ts';
import { settleRestored } from '../../actors/daemon/restored.ts';
import { createDeadlineService } from '../../actors/daemon/services/deadlineService.ts';
import { createReceiptService } from '../../actors/daemon/services/receiptService.ts';
import { spendTickets, withdrawDoubtful } from '../../actors/daemon/tickets/revocation.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { everyActor } from '../../actors/runtime/actorAccess.ts';
import type { Runtime } from '../../actors/runtime/runtime.ts';
import { openStore } from '../../persistence/store.ts';
import { checkpointed } from '../persistence/support/checkpointing.ts';
import { tickingClock } from '../persistence/support/clock.ts';
import { bootId, History, hostOf } from '../persistence/support/history.ts';
import { asked } from '../persistence/support/reading.ts';
import { stateDirIn, temporaryDirectory } from '../persistence/support/temporaryStore.ts';

const living = 20;
const pageBytes = 4_096;

/** So many lives of 50 events that are over, and behind them those that go on; then a checkpoint. */
async function past(lives: number): Promise<string> {
  const stateDir = stateDirIn(temporaryDirectory());
  const store = openStore({ stateDir, clock: tickingClock(), create: true });
  const history = new History(store);
  for (let n = 0; n < lives; n += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, at) => history.live(n + at, { observations: 41 })));
  }
  for (let n = 0; n < living; n += 1) await history.live(lives + n, { observations: 10, ends: false });
  // Nobody executes effects here, and one that is open is asked for by every start.
  const open = store.outbox.open({ position: 0, ordinal: -1 }, 100_000);
  store.write(() => {
    for (const { effectId } of open) store.outbox.finish(effectId, 'done');
  });
  checkpointed(store);
  await history.host.close();
  store.close();
  return stateDir;
}

/** What a daemon asks its store for before it serves (start.ts): the steps that look for what is still open. */
async function start(stateDir: string): Promise<void> {
  const clock = { ...createSystemClock(), ...tickingClock(), bootId: () => bootId };
  const store = openStore({ stateDir, clock, create: false });
  const host = hostOf(store);
  const findings = new Findings(
    () => 0,
    () => false,
  );
  const config = { retryBackoffMs: 1_000, retryBackoffLongestMs: 1_000 } as Runtime['config'];
  const places = { scopesDir: `${stateDir}/scopes` } as Runtime['places'];
  const parts = { host, store, clock, findings, config, places, log: pino({ enabled: false }) };
  await rebuildMissingScopes(parts);
  const recovered = await recover({ ...parts, receipts: createReceiptService(parts) });
  spendTickets(parts);
  withdrawDoubtful(parts);
  await settleRestored(parts);
  host.effects.start();
  createDeadlineService(parts).resume();
  const open = [...everyActor(host, 'run', { settled: false })];
  await host.close();
  store.close();
  expect([recovered.adopted, open.length]).toEqual([living, living]);
}

describe('the start after a checkpoint', () => {
  it('RET-01 reads what is still open and nothing of what is over, however much that was', async ({ annotate }) => {
    const [short, long] = [await past(20), await past(200)];
    const [little, much] = [await asked(() => start(short)), await asked(() => start(long))];
    expect(much.statements).toEqual(little.statements);
    expect(much.rows).toBe(little.rows);
    // A tree of ten times as many rows may be a level deeper, and is entered at a few places.
    expect(much.bytesRead - little.bytesRead).toBeLessThan(8 * pageBytes);
    const count = Object.values(little.statements).reduce((sum, times) => sum + times);
    const pages = [little, much].map(({ bytesRead }) => (bytesRead / pageBytes).toFixed(0));
    await annotate(`${count} statements, ${little.rows} rows, ${pages.join(' and ')} pages`);
  });
});
