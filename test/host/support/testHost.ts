import { onTestFinished } from 'vitest';
import type { Host, HostOptions } from '../../../actors/host/api.ts';
import { createHost } from '../../../actors/host/host.ts';
import type { Fault } from '../../../actors/host/hostError.ts';
import type { Draft, Outcome } from '../../../actors/host/outcome.ts';
import type { Store } from '../../../persistence/store.ts';
import { tickingClock } from '../../persistence/support/clock.ts';
import { newStore } from '../../persistence/support/temporaryStore.ts';
import { fixtureProtocol } from './fixtureProtocol.ts';

export interface TestHost {
  readonly host: Host;
  readonly store: Store;
  readonly faults: Fault[];
}

/** A host over the fixture protocol; closed with its test. */
export function testHost(options: Partial<HostOptions> = {}): TestHost {
  const store = options.store ?? newStore();
  const faults: Fault[] = [];
  const onFault = (fault: Fault) => void faults.push(fault);
  const host = createHost({ ...fixtureProtocol, clock: tickingClock(), store, onFault, ...options });
  onTestFinished(() => host.close());
  return { host, store, faults };
}

export const producer = { kind: 'test', id: 't1' };

const kinds: Readonly<Record<string, string>> = { ledger: 'goal', task: 'run', tree: 'worktreeGeneration' };

/** `draft('ledger.added', 'L1', { amount: 3 })`: the kind follows from the type. */
export function draft(type: string, id: string, payload: Record<string, unknown> = {}): Draft {
  return { type, actor: { kind: kinds[type.split('.')[0] as string] as string, id }, producer, payload };
}

export const withId = (eventId: string, one: Draft): Draft => ({ ...one, eventId });

export async function submitOne(host: Host, one: Draft): Promise<Outcome> {
  const [outcome] = await host.submit([one]);
  return outcome as Outcome;
}

export const openLedger = (host: Host, ledgerId = 'L1', owner?: string): Promise<Outcome> =>
  submitOne(host, draft('ledger.opened', ledgerId, owner === undefined ? { ledgerId } : { ledgerId, owner }));

export const add = (ledgerId: string, amount: number, eventId?: string): Draft => ({
  ...draft('ledger.added', ledgerId, { amount }),
  eventId,
});

export const totalOf = (host: Host, ledgerId = 'L1'): number => host.snapshotOf('goal', ledgerId)?.context.total;

/** Everything that the store knows, to see that nothing has changed. */
export function contentOf(store: Store): unknown {
  return {
    actors: ['goal', 'run', 'worktreeGeneration'].flatMap((kind) =>
      store.actors.list(kind).map(({ id }) => store.actors.read({ kind, id })),
    ),
    journal: store.journal.page(),
    outbox: store.outbox.open({ position: 0, ordinal: -1 }, 100),
  };
}
