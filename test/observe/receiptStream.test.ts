import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Subject, Subscription } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { type ReceiptFiles, receiptFiles } from '../../actors/observe/receipts/files.ts';
import type { ReadReceiptOptions } from '../../actors/observe/receipts/read.ts';
import { type ReceiptEvent, receipts$, type ScopeCommand } from '../../actors/observe/streams/receipts.ts';
import { FakeClock } from './support/fakeClock.ts';
import { honest, makeScopeDirectory, type ScopeDirectory } from './support/scopeDirectory.ts';

const cleanup = new Set<() => void>();
afterEach(() => {
  for (const close of [...cleanup].reverse()) close();
  cleanup.clear();
});

function scopeDirectory(scopeId?: string): ScopeDirectory {
  const scope = makeScopeDirectory(scopeId);
  cleanup.add(scope.close);
  return scope;
}

type Changes = { watchLimit?: number; reading?: ReadReceiptOptions; batch?: number; netPolls?: number };

/** Watches with a clock that nobody advances: unless a test polls, everything comes from the kernel's notifications. */
function watching(options: Changes = {}) {
  const scopes$ = new Subject<ScopeCommand>();
  const clock = new FakeClock();
  const events: ReceiptEvent[] = [];
  const waiting = new Set<() => void>();
  const state = { completed: false };
  const subscription = new Subscription();
  subscription.add(
    receipts$({ scopes$, clock, pollMs: 5_000, ...options }).subscribe({
      next: (event) => {
        events.push(event);
        for (const check of [...waiting]) check();
      },
      complete: () => {
        state.completed = true;
      },
    }),
  );
  cleanup.add(() => subscription.unsubscribe());
  const summary = () =>
    events.map((event) =>
      event.type === 'authentic' ? `${event.scopeId} ${event.reading.receipt.kind}` : `${event.scopeId} ${event.type}`,
    );
  /** Resolves with the summary once so many events have come. */
  const until = (count: number) =>
    new Promise<string[]>((resolve) => {
      const check = () => {
        if (events.length < count) return;
        waiting.delete(check);
        resolve(summary());
      };
      waiting.add(check);
      check();
    });
  return { scopes$, clock, events, until, summary, subscription, state };
}

/** Counts how often a receipt is opened. */
function counting() {
  let looks = 0;
  const open: ReceiptFiles['open'] = (path, options) => {
    looks += 1;
    return receiptFiles.open(path, options);
  };
  return { files: { ...receiptFiles, open }, looks: () => looks };
}

/** Two turns of the loop: whatever a notification or a poll set off has been looked at by then. */
const settled = async () => {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('receipts as a stream', () => {
  it('the kernel announces a receipt: each comes once, in order, and the scope leaves with its exit', async () => {
    const scope = scopeDirectory();
    const { scopes$, until, summary, state } = watching();
    scopes$.next({ watch: scope.expected });
    await settled();
    scope.publish('start');
    scope.publish('status');
    expect(await until(2)).toEqual(['Sscope start', 'Sscope status']);
    scopes$.complete();
    expect(state.completed).toBe(false);
    scope.publish('exit');
    expect(await until(3)).toEqual(['Sscope start', 'Sscope status', 'Sscope exit']);
    expect(state.completed).toBe(true);
    expect(summary()).toHaveLength(3);
  });

  it('what was published before anybody watched is found at once', async () => {
    const scope = scopeDirectory();
    scope.publishAll();
    const { scopes$, until } = watching();
    scopes$.next({ watch: scope.expected });
    expect(await until(3)).toEqual(['Sscope start', 'Sscope status', 'Sscope exit']);
  });

  it('captured output that grows in the directory wakes nobody', async () => {
    const scope = scopeDirectory();
    const { files, looks } = counting();
    const { scopes$, until } = watching({ reading: { files } });
    scopes$.next({ watch: scope.expected });
    await settled();
    const before = looks();
    for (let line = 0; line < 20; line += 1) {
      appendFileSync(join(scope.path, 'stdout.log'), 'line\n');
      await settled();
    }
    expect(looks()).toBe(before);
    scope.publish('start');
    scope.publish('status');
    await until(2);
  });

  it('a scope that the kernel speaks of is looked at unasked in every sixth poll only, in case it has forgotten', async () => {
    const scope = scopeDirectory();
    const { files, looks } = counting();
    const { scopes$, clock } = watching({ reading: { files } });
    scopes$.next({ watch: scope.expected });
    await settled();
    const before = looks();
    const seen: boolean[] = [];
    for (let poll = 0; poll < 6; poll += 1) {
      clock.advance(5_000);
      await settled();
      seen.push(looks() > before);
    }
    expect(seen).toEqual([false, false, false, false, false, true]);
  });

  it('the poll finds what no notification told, and goes on while anything is watched', async () => {
    const scope = scopeDirectory();
    const { scopes$, until, clock, summary } = watching({ watchLimit: 0 });
    scopes$.next({ watch: scope.expected });
    expect(await until(1)).toEqual(['Sscope pollOnly']);
    await settled();
    scope.publish('start');
    scope.publish('status');
    await settled();
    expect(summary()).toEqual(['Sscope pollOnly']);
    clock.advance(5_000);
    expect(await until(3)).toEqual(['Sscope pollOnly', 'Sscope start', 'Sscope status']);
    scope.publish('exit');
    clock.advance(5_000);
    expect(await until(4)).toHaveLength(4);
    expect(clock.sleeping).toBe(1);
    clock.advance(5_000);
    expect(clock.sleeping).toBe(0);
  });

  it('a receipt that is not authentic is said once and stays watched', async () => {
    const scope = scopeDirectory();
    const { scopes$, until, clock, events } = watching({ netPolls: 1 });
    scopes$.next({ watch: scope.expected });
    await settled();
    scope.publish('start');
    scope.publish('status', { ...honest.status, nonce: 'd'.repeat(32) });
    await until(2);
    for (let poll = 0; poll < 3; poll += 1) {
      clock.advance(5_000);
      await settled();
    }
    expect(events.slice(1)).toEqual([{ type: 'refused', scopeId: 'Sscope', kind: 'status', reason: 'wrong_nonce' }]);
  });

  it('case 28: a directory that was removed is said once', async () => {
    const scope = scopeDirectory();
    const { scopes$, until, clock, summary } = watching({ netPolls: 1 });
    scopes$.next({ watch: scope.expected });
    await settled();
    rmSync(scope.path, { recursive: true });
    expect(await until(1)).toEqual(['Sscope directoryMissing']);
    clock.advance(5_000);
    await settled();
    expect(summary()).toHaveLength(1);
  });

  it('a forgotten scope is quiet; watching it again starts anew', async () => {
    const scope = scopeDirectory();
    const { scopes$, until, summary } = watching();
    scopes$.next({ watch: scope.expected });
    scopes$.next({ forget: 'Sscope' });
    scopes$.next({ forget: 'Snever' });
    scope.publish('start');
    scope.publish('status');
    await settled();
    expect(summary()).toEqual([]);
    scopes$.next({ watch: scope.expected });
    expect(await until(2)).toEqual(['Sscope start', 'Sscope status']);
  });

  it('CONC-05: two hundred scopes keep their own order, and turns are bounded', async () => {
    const scopes = Array.from({ length: 200 }, (_, index) => scopeDirectory(`S${index}`));
    const { scopes$, until, summary } = watching({ batch: 16 });
    for (const scope of scopes) {
      scope.publishAll();
      scopes$.next({ watch: scope.expected });
    }
    let turns = 0;
    const counting = () => {
      turns += 1;
      if (summary().length < 600) setImmediate(counting);
    };
    setImmediate(counting);
    await until(600);
    expect(turns).toBeGreaterThanOrEqual(Math.floor(200 / 16));
    for (let index = 0; index < 200; index += 1) {
      const own = summary().filter((line) => line.startsWith(`S${index} `));
      expect(own).toEqual([`S${index} start`, `S${index} status`, `S${index} exit`]);
    }
  });

  it('unsubscribing closes every watch', async () => {
    const watches = () => process.getActiveResourcesInfo().filter((name) => name === 'FSEventWrap').length;
    const scope = scopeDirectory();
    const { scopes$, subscription, clock, summary } = watching();
    scopes$.next({ watch: scope.expected });
    await settled();
    expect(watches()).toBe(2);
    subscription.unsubscribe();
    await settled();
    expect(watches()).toBe(0);
    scope.publishAll();
    clock.advance(60_000);
    await settled();
    expect(summary()).toEqual([]);
    expect([clock.sleeping, scopes$.observed]).toEqual([0, false]);
  });
});
