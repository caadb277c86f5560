import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../persistence/store.ts';
import { bundled, node } from './support/children.ts';
import { tickingClock } from './support/clock.ts';
import { newStore, opened, stateDirIn, temporaryDirectory } from './support/temporaryStore.ts';
import { refusal } from './support/thrown.ts';

const opener = bundled('test/persistence/fixtures/opener.ts', 'opener');
const holder = bundled('test/persistence/fixtures/holder.ts', 'holder');
const open = (stateDir: string) => openStore({ stateDir, clock: tickingClock(), create: false });

function closedStore(): string {
  const stateDir = stateDirIn(temporaryDirectory());
  opened({ stateDir }).close();
  return stateDir;
}

describe('JRN-13, ruling 17: one writing process', () => {
  it('tells a second process at once that the runtime is busy', async () => {
    const store = newStore();
    const second = node(opener, store.stateDir);
    expect(JSON.parse(await second.nextLine())).toEqual({ code: 'runtime_busy', exitCode: 7 });
  });

  it('learns it without waiting for a timeout, and leaves the first one its lock', async () => {
    const stateDir = closedStore();
    const first = node(opener, stateDir);
    expect(await first.nextLine()).toBe('opened');
    const before = process.hrtime.bigint();
    expect(refusal(() => open(stateDir))).toMatchObject({ code: 'runtime_busy', exitCode: 7 });
    expect(Number(process.hrtime.bigint() - before) / 1e6).toBeLessThan(1_000);
    // The refused attempt has looked at the files; had it opened one itself, the lock would be gone now.
    expect(refusal(() => open(stateDir))).toMatchObject({ code: 'runtime_busy' });
    expect(JSON.parse(await node(opener, stateDir).nextLine())).toMatchObject({ code: 'runtime_busy' });
  });

  it('takes over from a killed process, with nothing to clean up', async () => {
    const stateDir = closedStore();
    const first = node(opener, stateDir);
    await first.nextLine();
    first.process.kill('SIGKILL');
    await first.ended;
    open(stateDir).close();
  });

  it('refuses a second store of the same process too', () => {
    const store = newStore();
    expect(refusal(() => open(store.stateDir))).toMatchObject({ code: 'runtime_busy' });
    store.close();
    open(store.stateDir).close();
  });
});

describe('CONC-01, FAULT-08: a busy database defers within its bound', () => {
  it('opens and writes only when nobody else holds the database', async () => {
    const store = newStore();
    const other = node(holder, join(store.stateDir, 'custody.db'));
    await other.nextLine();
    const before = process.hrtime.bigint();
    const attempt = () => store.write(() => store.meta.set('test.x', '1'));
    expect(refusal(attempt)).toMatchObject({
      code: 'store_busy',
      exitCode: 10,
      next: [expect.stringContaining('retry')],
    });
    const waitedMs = Number(process.hrtime.bigint() - before) / 1e6;
    expect(waitedMs).toBeGreaterThan(200);
    // Far below the five seconds that the driver would wait by itself.
    expect(waitedMs).toBeLessThan(1_500);
    other.process.stdin?.end();
    await other.ended;
    attempt();
    expect(store.meta.get('test.x')).toBe('1');
  });
});
