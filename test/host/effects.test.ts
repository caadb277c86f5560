import { renameSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { OutboxEffect } from '../../actors/host/outboxEffect.ts';
import type { Store } from '../../persistence/store.ts';
import { opened } from '../persistence/support/temporaryStore.ts';
import { eventually } from '../support/eventually.ts';
import { add, draft, openLedger, submitOne, type TestHost, testHost, withId } from './support/testHost.ts';

const launch = (eventId: string) => withId(eventId, draft('ledger.launched', 'L1', { amount: 1 }));
const drain = (eventId: string) => withId(eventId, draft('ledger.drained', 'L1', { amount: 1 }));

/** Every state that the effect of an event goes through, by event id. */
const stateOf = (store: Store, eventId: string): string | undefined => {
  const row = [...store.outbox.open({ position: 0, ordinal: -1 }, 1_000)].find(({ params }) =>
    params.includes(eventId),
  );
  return row?.state;
};

interface Done {
  readonly did: string[];
  execute(effect: OutboxEffect): Promise<void>;
  resolve(effect: OutboxEffect): Promise<void>;
}

function recorder(): Done {
  const did: string[] = [];
  const note = (how: string) => async (effect: OutboxEffect) => void did.push(`${how} ${effect.params.scopeId}`);
  return { did, execute: note('executed'), resolve: note('resolved') };
}

function register({ host }: TestHost, { execute, resolve }: Done): void {
  host.effects.register('launchScope', execute, resolve);
  host.effects.register('drainScope', execute);
}

const settled = (store: Store) =>
  eventually('the outbox is empty', () =>
    store.outbox.open({ position: 0, ordinal: -1 }, 1).length === 0 ? true : undefined,
  );

/** The same store, opened by the next process. */
async function restarted({ host, store }: TestHost, options: Parameters<typeof testHost>[0] = {}): Promise<TestHost> {
  await host.close();
  store.close();
  return testHost({ ...options, store: opened({ stateDir: store.stateDir, create: false }) });
}

describe('K4, JRN-11: effects run after the commit', () => {
  it('executes what a committed event asked for, once, with all about it', async () => {
    const test = testHost();
    const effects: OutboxEffect[] = [];
    test.host.effects.register(
      'launchScope',
      async (effect) => void effects.push(effect),
      async () => {},
    );
    test.host.effects.start();
    await openLedger(test.host);
    await submitOne(test.host, launch('e1'));
    await submitOne(test.host, launch('e1'));
    await settled(test.store);
    const { installationId } = test.store;
    expect(effects).toEqual([
      {
        effectId: `${installationId}:effect:1.2.0`,
        type: 'launchScope',
        policy: 'once',
        params: { scopeId: 'e1' },
        actor: { kind: 'goal', id: 'L1' },
        position: 2,
        epoch: 1,
        startNumber: 1,
      },
    ]);
    expect(test.store.outbox.find(`${installationId}:effect:1.2.0`)).toMatchObject({ state: 'done', attempts: 1 });
  });

  it('I-36: executes nothing of a call that was rolled back', async () => {
    const test = testHost();
    const done = recorder();
    register(test, done);
    test.host.effects.start();
    await openLedger(test.host);
    await test.host.submit([launch('e1'), add('L1', 500)]);
    await submitOne(test.host, launch('e2'));
    await settled(test.store);
    expect(done.did).toEqual(['executed e2']);
  });

  it('has marked a once-only effect as attempted on disk before it is executed', async () => {
    const test = testHost();
    let seen: string | undefined;
    const look = async ({ params }: OutboxEffect) => {
      seen = stateOf(test.store, params.scopeId);
    };
    test.host.effects.register('launchScope', look, look);
    test.host.effects.start();
    await openLedger(test.host);
    await submitOne(test.host, launch('e1'));
    await settled(test.store);
    expect(seen).toBe('attempted');
  });

  it('answers before it acts', async () => {
    const test = testHost();
    const order: string[] = [];
    const act = async () => void order.push('effect');
    test.host.effects.register('drainScope', act);
    test.host.effects.start();
    await openLedger(test.host);
    await submitOne(test.host, drain('e1')).then(() => order.push('answer'));
    await settled(test.store);
    expect(order).toEqual(['answer', 'effect']);
  });

  it('lets effects of one actor run at the same time: a drain does not wait for its launch', async () => {
    const test = testHost();
    let endLaunch = () => {};
    const launched = () =>
      new Promise<void>((resolve) => {
        endLaunch = resolve;
      });
    test.host.effects.register('launchScope', launched, launched);
    const drained = new Promise<void>((resolve) => {
      test.host.effects.register('drainScope', async () => resolve());
    });
    test.host.effects.start();
    await openLedger(test.host);
    await submitOne(test.host, launch('e1'));
    await submitOne(test.host, drain('e2'));
    await drained;
    endLaunch();
    await settled(test.store);
  });

  it('keeps in the outbox what does not fit, and gets to it', async () => {
    const test = testHost({ limits: { runningEffects: 3 } });
    await openLedger(test.host);
    const ids = Array.from({ length: 20 }, (_, n) => `e${n}`);
    let running = 0;
    let most = 0;
    const did: string[] = [];
    test.host.effects.register('drainScope', async ({ params }) => {
      running += 1;
      most = Math.max(most, running);
      did.push(params.scopeId);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    });
    test.host.effects.start();
    await test.host.submit(ids.map(drain));
    await settled(test.store);
    expect(did).toEqual(ids);
    expect(most).toBe(3);
  });

  it('waits for somebody who can execute', async () => {
    const test = testHost();
    test.host.effects.start();
    await openLedger(test.host);
    await submitOne(test.host, drain('e1'));
    expect(stateOf(test.store, 'e1')).toBe('pending');
    const done = recorder();
    register(test, done);
    await settled(test.store);
    expect(done.did).toEqual(['executed e1']);
  });

  it('wants a resolver for what is done once', () => {
    const { host } = testHost();
    expect(() => host.effects.register('launchScope', async () => {})).toThrow('needs a resolver');
  });
});

describe('JRN-11, L-14: after failures and restarts', () => {
  it('repeats a repeatable effect until it succeeds, with back-off, and keeps why it failed', async () => {
    const test = testHost({ limits: { retryFirstMs: 1, retryLongestMs: 4 } });
    let attempts = 0;
    test.host.effects.register('drainScope', async () => {
      attempts += 1;
      if (attempts < 5) throw Object.assign(new Error('with a secret'), { code: 'ECONNREFUSED' });
    });
    test.host.effects.start();
    await openLedger(test.host);
    await submitOne(test.host, drain('e1'));
    await settled(test.store);
    expect(attempts).toBe(5);
    expect(test.store.outbox.find(`${test.store.installationId}:effect:1.2.0`)).toMatchObject({
      state: 'done',
      attempts: 4,
    });
    expect(test.faults.map(({ code }) => code)).toEqual(Array(4).fill('effect_failed'));
  });

  it('offers a repeatable effect again after a restart, by the same id', async () => {
    const test = testHost();
    await openLedger(test.host);
    await submitOne(test.host, drain('e1'));
    const next = await restarted(test);
    const done = recorder();
    register(next, done);
    next.host.effects.start();
    await settled(next.store);
    expect(done.did).toEqual(['executed e1']);
  });

  it('never repeats a once-only effect that an earlier start has committed, executed or not', async () => {
    const test = testHost();
    await openLedger(test.host);
    await submitOne(test.host, launch('first'));
    await submitOne(test.host, launch('second'));
    const next = await restarted(test);
    const done = recorder();
    register(next, done);
    next.host.effects.start();
    await settled(next.store);
    expect(done.did).toEqual(['resolved first', 'resolved second']);
  });

  it('resolves a once-only effect whose execution failed, and asks again until that is clear', async () => {
    const test = testHost({ limits: { retryFirstMs: 1 } });
    const did: string[] = [];
    test.host.effects.register(
      'launchScope',
      async () => {
        did.push('executed');
        throw new Error('spawn failed half way');
      },
      async () => {
        did.push('resolved');
        if (did.length < 4) throw new Error('procfs is unreadable');
      },
    );
    test.host.effects.start();
    await openLedger(test.host);
    await submitOne(test.host, launch('e1'));
    await settled(test.store);
    expect(did).toEqual(['executed', 'resolved', 'resolved', 'resolved']);
  });

  it('ruling 29: resolves what a restored store shows as pending', async () => {
    const test = testHost();
    await openLedger(test.host);
    await submitOne(test.host, launch('e1'));
    const copy = join(test.store.stateDir, 'copy.db');
    await test.store.backup(copy);
    const done = recorder();
    register(test, done);
    test.host.effects.start();
    await settled(test.store);
    await test.host.close();
    test.store.close();
    renameSync(copy, join(test.store.stateDir, 'custody.db'));
    const restored = testHost({ store: opened({ stateDir: test.store.stateDir, create: false }) });
    expect(restored.store.epoch).toBe(2);
    register(restored, done);
    restored.host.effects.start();
    await settled(restored.store);
    expect(done.did).toEqual(['executed e1', 'resolved e1']);
  });

  it('ruling 27: executes nothing whose parameters were changed', async () => {
    const test = testHost();
    await openLedger(test.host);
    await submitOne(test.host, drain('e1'));
    await submitOne(test.host, drain('e2'));
    const editor = new Database(join(test.store.stateDir, 'custody.db'));
    editor.exec(`UPDATE outbox SET params = replace(params, 'e1', 'x1')`);
    editor.close();
    const done = recorder();
    register(test, done);
    test.host.effects.start();
    await settled(test.store);
    expect(done.did).toEqual(['executed e2']);
    expect(test.faults).toMatchObject([{ code: 'effect_corrupt', actor: { kind: 'goal', id: 'L1' } }]);
    expect(test.store.outbox.find(`${test.store.installationId}:effect:1.2.0`)).toMatchObject({
      state: 'failed',
      error: 'effect_corrupt',
    });
  });

  it('stops without waiting out a pause, and leaves the effect for the next start', async () => {
    const test = testHost({ limits: { retryFirstMs: 3_600_000, retryLongestMs: 3_600_000 } });
    test.host.effects.register('drainScope', async () => {
      throw new Error('not now');
    });
    test.host.effects.start();
    await openLedger(test.host);
    await submitOne(test.host, drain('e1'));
    await eventually('the attempt has failed', () => (test.faults.length > 0 ? true : undefined));
    await test.host.effects.stop();
    expect(stateOf(test.store, 'e1')).toBe('pending');
  });
});
