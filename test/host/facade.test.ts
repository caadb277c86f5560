import { firstValueFrom, from, map, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { toPromise, waitFor } from 'xstate';
import { eventually } from '../support/eventually.ts';
import { collectGarbage } from './support/garbage.ts';
import { add, draft, openLedger, submitOne, testHost } from './support/testHost.ts';

describe('K9, ruling 14: a durable actor is an ActorRef', () => {
  it('shows what is committed, and nothing before that', async () => {
    const { host } = testHost();
    await openLedger(host);
    const actor = host.actor('goal', 'L1');
    expect(actor.getSnapshot().context.total).toBe(0);
    const seen: number[] = [];
    actor.subscribe(({ context }) => seen.push(context.total));
    const submitted = submitOne(host, add('L1', 5));
    const during = actor.getSnapshot().context.total;
    await submitted;
    expect([during, actor.getSnapshot().context.total, seen]).toEqual([0, 5, [5]]);
  });

  it('shows whoever looks during a commit the state before it, and never what was rolled back', async () => {
    const looks: unknown[] = [];
    const look = (id: string) => {
      try {
        return host.snapshotOf('goal', id)?.context.total;
      } catch {
        return 'nothing to see yet';
      }
    };
    const { host } = testHost({
      failpoint: (point) => {
        if (point === 'before_commit') looks.push(look('L1'));
      },
    });
    await openLedger(host);
    await host.submit([add('L1', 5), add('L1', 500)]);
    await submitOne(host, add('L1', 3));
    await submitOne(host, add('L1', 4));
    expect(looks).toEqual(['nothing to see yet', 0, 0, 3]);
    expect(host.actor('goal', 'L1').getSnapshot().context.total).toBe(7);
  });

  it('is one and the same for all who ask, and submits what it is sent', async () => {
    const { host, store } = testHost();
    await openLedger(host);
    const actor = host.actor('goal', 'L1');
    expect(host.actor('goal', 'L1')).toBe(actor);
    actor.send({ type: 'ledger.added', amount: 5, eventId: 'sent' });
    expect(actor.getSnapshot().context.total).toBe(0);
    const snapshot = await waitFor(actor, ({ context }) => context.total === 5);
    expect(snapshot.matches({ book: 'open' })).toBe(true);
    expect(store.journal.page({ after: 1 })).toMatchObject([
      { eventId: 'sent', envelope: { producer: { kind: 'actorRef', id: 'goal/L1' }, payload: { amount: 5 } } },
    ]);
  });

  it('works with RxJS', async () => {
    const { host } = testHost();
    await openLedger(host);
    const totals = firstValueFrom(
      from(host.actor('goal', 'L1')).pipe(
        map(({ context }) => context.total),
        toArray(),
      ),
    );
    await host.submit([add('L1', 1), add('L1', 2)]);
    await submitOne(host, add('L1', 4));
    await host.submit([draft('ledger.closed', 'L1'), draft('ledger.audited', 'L1')]);
    expect(await totals).toEqual([3, 7, 7]);
  });

  it('works with selectors', async () => {
    const { host } = testHost();
    await openLedger(host);
    const isOpen = host.actor('goal', 'L1') as ReturnType<typeof host.actor> & {
      select<T>(selector: (snapshot: { matches(value: unknown): boolean }) => T): {
        subscribe(next: (value: T) => void): void;
      };
    };
    const seen: boolean[] = [];
    isOpen.select((snapshot) => snapshot.matches({ book: 'open' })).subscribe((value) => seen.push(value));
    await submitOne(host, add('L1', 1));
    await submitOne(host, draft('ledger.closed', 'L1'));
    await submitOne(host, draft('ledger.audited', 'L1'));
    expect(seen).toEqual([false]);
  });

  it('is done when every region is over, not when one is', async () => {
    const { host } = testHost();
    await openLedger(host);
    const actor = host.actor('goal', 'L1');
    const done = toPromise(actor);
    let output: unknown;
    void done.then((value) => {
      output = value;
    });
    await submitOne(host, draft('ledger.closed', 'L1'));
    expect([actor.getSnapshot().status, output]).toEqual(['active', undefined]);
    await submitOne(host, draft('ledger.audited', 'L1'));
    expect(await done).toMatchObject({ ledgerId: 'L1', total: 0 });
    expect(actor.getSnapshot().status).toBe('done');
    expect(await toPromise(host.actor('goal', 'L1'))).toMatchObject({ ledgerId: 'L1' });
  });

  it('is done from the start when the actor is settled already, and takes late evidence through submit', async () => {
    const { host } = testHost();
    await openLedger(host);
    await host.submit([draft('ledger.closed', 'L1'), draft('ledger.audited', 'L1')]);
    const actor = host.actor('goal', 'L1');
    expect(actor.getSnapshot().status).toBe('done');
    await toPromise(actor);
    expect(await submitOne(host, draft('ledger.passed', 'L1', { amount: 1, to: [] }))).toMatchObject({
      outcome: 'noop',
    });
  });

  it('tells whoever runs the host what became of a send that was refused', async () => {
    const { host, faults } = testHost();
    await openLedger(host);
    host.actor('goal', 'L1').send({ type: 'ledger.added', amount: 500 });
    host.actor('goal', 'L1').send({ type: 'ledger.invented' });
    await submitOne(host, add('L1', 1));
    await eventually('both refusals are reported', () => (faults.length === 2 ? true : undefined));
    expect(faults.map(({ code, error }) => [code, error])).toEqual([
      ['send_refused', 'guard_refused'],
      ['send_refused', 'invalid_event'],
    ]);
    expect(host.actor('goal', 'L1').getSnapshot().status).toBe('active');
  });

  it('cannot be told a state by sending one', async () => {
    const { host } = testHost();
    await openLedger(host);
    const actor = host.actor('goal', 'L1');
    actor.send({ type: 'host.committed', snapshot: { ...actor.getSnapshot(), context: { total: 99 } } });
    expect(actor.getSnapshot().context.total).toBe(0);
    await submitOne(host, add('L1', 1));
    expect(actor.getSnapshot().context.total).toBe(1);
  });

  it('names an actor that does not exist', () => {
    const { host } = testHost();
    expect(() => host.actor('goal', 'L9')).toThrow(expect.objectContaining({ code: 'unknown_actor', exitCode: 3 }));
    expect(host.snapshotOf('goal', 'L9')).toBeUndefined();
    expect(host.snapshotOf('invented', 'L9')).toBeUndefined();
  });

  it('keeps going for others when one holder stops its reference', async () => {
    const { host } = testHost();
    await openLedger(host);
    (host.actor('goal', 'L1') as unknown as { stop(): void }).stop();
    await submitOne(host, add('L1', 1));
    expect(host.actor('goal', 'L1').getSnapshot()).toMatchObject({ status: 'active', context: { total: 1 } });
  });

  it('serves a listener that keeps no reference, past the bound of what is kept', async () => {
    const { host } = testHost({ limits: { cachedActors: 1, cachedSnapshots: 1 } });
    const ids = Array.from({ length: 5 }, (_, n) => `L${n}`);
    const seen: string[] = [];
    for (const id of ids) await openLedger(host, id);
    for (const id of ids) {
      host.actor('goal', id).subscribe(({ context }) => seen.push(`${context.ledgerId}:${context.total}`));
      host.readModel.atom('goal', id).subscribe((view) => seen.push(`${view?.id}:v${view?.version}`));
    }
    await collectGarbage();
    await host.submit(ids.map((id) => add(id, 1)));
    expect(seen.sort()).toEqual(ids.flatMap((id) => [`${id}:1`, `${id}:v2`]));
  });

  it('lets go of what nobody uses', async () => {
    const { host } = testHost({ limits: { cachedActors: 1, cachedSnapshots: 1 } });
    await openLedger(host, 'L1');
    await openLedger(host, 'L2');
    const unused = new WeakRef(host.actor('goal', 'L1'));
    const unsubscribed = new WeakRef(host.readModel.atom('goal', 'L1'));
    unsubscribed
      .deref()
      ?.subscribe(() => {})
      .unsubscribe();
    host.actor('goal', 'L2');
    host.readModel.atom('goal', 'L2');
    await collectGarbage();
    expect([unused.deref(), unsubscribed.deref()]).toEqual([undefined, undefined]);
    expect(host.actor('goal', 'L1').getSnapshot().context.total).toBe(0);
  });
});

describe('read model', () => {
  it('has one atom per actor, fed after commits', async () => {
    const { host } = testHost();
    const atom = host.readModel.atom('goal', 'L1');
    expect(atom.get()).toBeUndefined();
    expect(host.readModel.atom('goal', 'L1')).toBe(atom);
    const seen: unknown[] = [];
    const subscription = atom.subscribe((view) => seen.push(view && [view.version, view.snapshot.context.total]));
    await openLedger(host);
    await submitOne(host, add('L1', 5));
    await submitOne(host, add('L1', 500));
    await host.submit([add('L1', 1), add('L1', 500)]);
    subscription.unsubscribe();
    await submitOne(host, add('L1', 1));
    expect(seen).toEqual([
      [1, 0],
      [2, 5],
    ]);
    expect(atom.get()).toMatchObject({ kind: 'goal', id: 'L1', version: 3 });
  });

  it('starts from the row of an actor that nobody has looked at', async () => {
    const { host, store } = testHost();
    await openLedger(host);
    await host.close();
    const again = testHost({ store });
    expect(again.host.readModel.atom('goal', 'L1').get()).toMatchObject({ version: 1 });
  });
});
