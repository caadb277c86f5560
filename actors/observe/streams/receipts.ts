import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { Observable, type Subscriber } from 'rxjs';
import type { ReceiptKind } from '../../../pty/guardian/receipt.ts';
import type { Clock } from '../clock.ts';
import { errnoOf } from '../linux/errno.ts';
import type { AuthenticReading } from '../receipts/facts.ts';
import type { ReadReceiptOptions } from '../receipts/read.ts';
import { type ScopeExpectation, ScopeReceipts } from '../receipts/scope.ts';

export type ScopeCommand = { readonly watch: ScopeExpectation } | { readonly forget: string };

export type ReceiptEvent =
  | { readonly type: 'authentic'; readonly scopeId: string; readonly reading: AuthenticReading }
  /** For people to look at, never an event of an actor; said once until the reason changes. */
  | { readonly type: 'refused'; readonly scopeId: string; readonly kind: ReceiptKind; readonly reason: string }
  /** The directory of a scope is gone, and its receipts with it. Said once. */
  | { readonly type: 'directoryMissing'; readonly scopeId: string }
  /** The kernel tells us nothing about this scope, so only the poll will. Said once. */
  | { readonly type: 'pollOnly'; readonly scopeId: string; readonly reason: string };

export interface ReceiptWatchOptions {
  readonly scopes$: Observable<ScopeCommand>;
  readonly clock: Clock;
  /** For scopes of which the kernel tells nothing: some file systems do not, and watches are limited. */
  readonly pollMs?: number;
  /** The net under the notifications, which can overflow: polls in which a scope that has them is looked at once. */
  readonly netPolls?: number;
  /** Scopes with notifications; each costs two inotify watches. The others are polled. */
  readonly watchLimit?: number;
  /** Scopes looked at before the event loop has its turn. */
  readonly batch?: number;
  readonly reading?: ReadReceiptOptions;
}

interface Watched {
  readonly expected: ScopeExpectation;
  readonly receipts: ScopeReceipts;
  readonly said: Set<string>;
  watchers: FSWatcher[];
}

/**
 * The slot files themselves are watched and not their directory: the workload's captured output grows in there, and every
 * line of it would wake the daemon. A slot's inode stays the same when it is published, so the watch sees the write and
 * the renaming. The start receipt is not waited for; it precedes the handshake.
 */
const AWAITED = ['status.reserved', 'exit.reserved'] as const;

class ReceiptWatcher {
  readonly #options: Required<ReceiptWatchOptions>;
  readonly #out: Subscriber<ReceiptEvent>;
  readonly #scopes = new Map<string, Watched>();
  /** Scopes to look at: a set, so that any number of notifications about one scope costs one look. */
  readonly #dirty = new Set<string>();
  #turn: NodeJS.Immediate | undefined;
  #cancelPoll: (() => void) | undefined;
  #polls = 0;
  #watching = 0;
  #inputOver = false;

  constructor(options: ReceiptWatchOptions, out: Subscriber<ReceiptEvent>) {
    this.#options = { pollMs: 5_000, netPolls: 6, watchLimit: 2_048, batch: 64, reading: {}, ...options };
    this.#out = out;
  }

  command(command: ScopeCommand): void {
    if ('forget' in command) this.#forget(command.forget);
    else this.#add(command.watch);
  }

  inputOver(): void {
    this.#inputOver = true;
    this.#completeWhenDone();
  }

  stop(): void {
    for (const scopeId of [...this.#scopes.keys()]) this.#forget(scopeId);
    if (this.#turn !== undefined) clearImmediate(this.#turn);
    this.#cancelPoll?.();
    this.#dirty.clear();
  }

  #add(expected: ScopeExpectation): void {
    this.#forget(expected.scopeId);
    const receipts = new ScopeReceipts(expected, this.#options.reading);
    const scope: Watched = { expected, receipts, said: new Set(), watchers: [] };
    this.#scopes.set(expected.scopeId, scope);
    // First listen, then look: what is published in between is seen twice and not never.
    this.#listen(scope);
    this.#mark(expected.scopeId);
    this.#cancelPoll ??= this.#options.clock.wakeAt(this.#options.clock.monoMs() + this.#options.pollMs, () =>
      this.#poll(),
    );
  }

  #listen(scope: Watched): void {
    const { scopeId, scopeDir } = scope.expected;
    if (this.#watching >= this.#options.watchLimit) {
      this.#sayOnce(scope, { type: 'pollOnly', scopeId, reason: 'watch_limit' });
      return;
    }
    this.#watching += 1;
    for (const name of AWAITED) {
      try {
        const watcher = watch(join(scopeDir, name), () => this.#mark(scopeId));
        watcher.on('error', () => this.#lose(scope, watcher));
        scope.watchers.push(watcher);
      } catch (error) {
        const code = errnoOf(error);
        // Published already, or gone: the look that follows finds out.
        if (code === 'ENOENT') continue;
        this.#sayOnce(scope, { type: 'pollOnly', scopeId, reason: code.toLowerCase() || 'unknown' });
      }
    }
    if (scope.watchers.length === 0) this.#watching -= 1;
  }

  #lose(scope: Watched, watcher: FSWatcher): void {
    watcher.close();
    if (!scope.watchers.includes(watcher)) return;
    scope.watchers = scope.watchers.filter((one) => one !== watcher);
    if (scope.watchers.length === 0) this.#watching -= 1;
  }

  #forget(scopeId: string): void {
    const scope = this.#scopes.get(scopeId);
    if (scope === undefined) return;
    this.#scopes.delete(scopeId);
    this.#dirty.delete(scopeId);
    if (scope.watchers.length > 0) this.#watching -= 1;
    for (const watcher of scope.watchers) watcher.close();
    scope.watchers = [];
    this.#completeWhenDone();
  }

  #mark(scopeId: string): void {
    if (!this.#scopes.has(scopeId)) return;
    this.#dirty.add(scopeId);
    this.#turn ??= setImmediate(() => this.#lookAround());
  }

  #poll(): void {
    this.#cancelPoll = undefined;
    if (this.#scopes.size === 0) return;
    this.#polls += 1;
    const isNet = this.#polls % this.#options.netPolls === 0;
    for (const [scopeId, { watchers }] of this.#scopes) if (isNet || watchers.length === 0) this.#mark(scopeId);
    this.#cancelPoll = this.#options.clock.wakeAt(this.#options.clock.monoMs() + this.#options.pollMs, () =>
      this.#poll(),
    );
  }

  #lookAround(): void {
    this.#turn = undefined;
    const now = { bootId: this.#options.clock.bootId(), boottimeMs: this.#options.clock.boottimeMs() };
    let left = this.#options.batch;
    for (const scopeId of this.#dirty) {
      if (left === 0) break;
      left -= 1;
      this.#dirty.delete(scopeId);
      this.#look(this.#scopes.get(scopeId)!, now);
      if (this.#out.closed) return;
    }
    if (this.#dirty.size > 0) this.#turn ??= setImmediate(() => this.#lookAround());
  }

  #look(scope: Watched, now: { bootId: string; boottimeMs: number }): void {
    const { scopeId } = scope.expected;
    const findings = scope.receipts.look(now);
    for (const reading of findings.authentic) this.#out.next({ type: 'authentic', scopeId, reading });
    for (const { kind, reason } of findings.refused) this.#sayOnce(scope, { type: 'refused', scopeId, kind, reason });
    if (findings.directoryMissing) this.#sayOnce(scope, { type: 'directoryMissing', scopeId });
    if (scope.receipts.complete) this.#forget(scopeId);
  }

  #sayOnce(scope: Watched, event: ReceiptEvent): void {
    const key = event.type === 'refused' ? `refused ${event.kind} ${event.reason}` : event.type;
    if (scope.said.has(key)) return;
    scope.said.add(key);
    this.#out.next(event);
  }

  #completeWhenDone(): void {
    if (this.#inputOver && this.#scopes.size === 0) this.#out.complete();
  }
}

/**
 * Finds the receipts of the watched scopes: at once where the kernel announces them, within `pollMs` where it announces
 * nothing. Receipts of one scope come in their order of publication, each once. A scope leaves by itself with its exit
 * receipt.
 *
 * Completes when `scopes$` has completed and every scope has left; unsubscribing closes all watches.
 */
export function receipts$(options: ReceiptWatchOptions): Observable<ReceiptEvent> {
  return new Observable((out) => {
    const watcher = new ReceiptWatcher(options, out);
    const input = options.scopes$.subscribe({
      next: (command) => watcher.command(command),
      error: (error) => out.error(error),
      complete: () => watcher.inputOver(),
    });
    return () => {
      input.unsubscribe();
      watcher.stop();
    };
  });
}
