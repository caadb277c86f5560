/** Lives of the real protocol: a run with its scope, observed as often as a test wants, and ended by its receipts. */
import { hash } from 'node:crypto';
import type { Host } from '../../../actors/host/api.ts';
import { createHost } from '../../../actors/host/host.ts';
import type { Draft } from '../../../actors/host/outcome.ts';
import { createSequence } from '../../../actors/runtime/runtime.ts';
import { protocol } from '../../../machines/protocol.ts';
import type { Store } from '../../../persistence/store.ts';
import {
  digestOf,
  exitReceipt,
  guardian,
  sampledAt,
  slots,
  statusReceipt,
  workload,
} from '../../machines/support/evidence.ts';
import { scopeInput } from '../../machines/support/scopeSamples.ts';
import { tickingClock } from './clock.ts';

export const bootId = '7d1c0c2e-0000-4000-8000-00000000b007';
const here = { bootId };
const producer = { kind: 'history', id: 'history' };
const installationId = 'Ihistory000';

const process = (one: typeof guardian) => ({ ...one, installationId, bootId });

export const hostOf = (store: Store): Host => createHost({ ...protocol, store, clock: tickingClock() });

/** A letter and ten digits. */
export const idOf = (letter: string, n: number): string => letter + String(n).padStart(10, '0');

const kinds: Readonly<Record<string, string>> = { R: 'run', S: 'executionScope' };

function draft(id: string, type: string, payload: object): Draft {
  const actor = { kind: kinds[id.charAt(0)] as string, id };
  return { type, actor, producer, payload: payload as Draft['payload'] };
}

export interface LifeOptions {
  readonly observations?: number;
  readonly parentScopeId?: string | null;
  /** Without: it goes on living. */
  readonly ends?: boolean;
}

export class History {
  readonly host: Host;
  readonly store: Store;
  readonly #nextId: (what: string) => string;

  constructor(store: Store, host: Host = hostOf(store)) {
    this.store = store;
    this.host = host;
    this.#nextId = createSequence(store);
  }

  async submit(drafts: readonly Draft[]): Promise<void> {
    for (let at = 0; at < drafts.length; at += 200) {
      const outcomes = await this.host.submit(drafts.slice(at, at + 200));
      const bad = outcomes.find(({ outcome }) => outcome === 'rejected');
      if (bad) throw new Error(JSON.stringify(bad));
    }
  }

  /** Everything that became of run and scope number `n`, in order. */
  async live(n: number, options: LifeOptions = {}): Promise<void> {
    await this.submit(this.life(n, options));
  }

  life(n: number, { observations = 0, parentScopeId = null, ends = true }: LifeOptions = {}): Draft[] {
    const [runId, scopeId] = [idOf('R', n), idOf('S', n)];
    const requested = {
      ...scopeInput(),
      scopeId,
      runId,
      parentScopeId,
      generationId: null,
      goalId: null,
      nodeId: null,
    };
    const run = {
      runId,
      generationId: null,
      goalRef: null,
      mode: 'managed',
      rootScopeId: scopeId,
      label: null,
      retryOf: null,
      origin: 'native',
      gaps: [],
    };
    return [
      draft(runId, 'run.reserved', run),
      draft(scopeId, 'scope.requested', { ...requested, onRootExit: 'wait' }),
      draft(scopeId, 'launch.prepared', { slots }),
      draft(scopeId, 'guardian.attached', {
        guardian: process(guardian),
        workload: process(workload),
        bootId,
      }),
      draft(runId, 'identity.bound', {
        identity: process(workload),
        identityDigest: digestOf('a'),
        verified: true,
        source: 'entrypoint',
        scopeId,
      }),
      draft(scopeId, 'launch.releaseCommitted', {}),
      ...this.observations(n, observations),
      ...(ends ? this.end(n) : []),
    ];
  }

  /** Alternately alive and unknown, so that each of them changes something. */
  observations(n: number, count: number): Draft[] {
    const scopeId = idOf('S', n);
    return Array.from({ length: count }, (_, index) => {
      const isAlive = index % 2 === 1;
      const payload = {
        result: isAlive ? 'alive' : 'unknown',
        reason: isAlive ? 'running' : 'not_readable',
        contextDigest: '',
        sampledAt: { ...sampledAt, ...here },
      };
      return { ...draft(scopeId, 'guardian.observed', payload), eventId: this.#nextId(`go:${scopeId}`) };
    });
  }

  drain(n: number, requestId: string): Draft {
    return draft(idOf('S', n), 'drain.requested', { cause: 'stop', requestId });
  }

  end(n: number): Draft[] {
    const scopeId = idOf('S', n);
    const receiptText = `{"receipt":"of ${scopeId}"}`;
    const digest = hash('sha256', receiptText, 'hex');
    return [
      draft(scopeId, 'workload.statusReceipt', statusReceipt(scopeId, { ...here, receiptText })),
      draft(scopeId, 'guardian.exitReceipt', exitReceipt({ ...here, receiptText, bytesDigest: digest })),
    ];
  }
}
