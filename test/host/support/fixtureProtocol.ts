/**
 * A small protocol with one of everything that the host has to get right. The kinds are borrowed from the real one; the
 * charts are not.
 */
import { setup } from 'xstate';
import { z } from 'zod';
import type { EventTypeEntry, Protocol } from '../../../actors/host/protocol.ts';
import type { ActorDefinition } from '../../../machines/definition.ts';
import type { ScopeId } from '../../../machines/ids.ts';
import type { ActorChange, Relay } from '../../../machines/relays.ts';
import { structuralHash } from '../../../machines/structuralHash.ts';

type Event = { readonly type: string; readonly eventId: string } & Readonly<Record<string, unknown>>;

interface LedgerContext {
  readonly ledgerId: string;
  readonly owner: string | null;
  readonly total: number;
  readonly entries: number;
  readonly last: string | null;
}

const ledgerSetup = setup({
  types: {} as { context: LedgerContext; events: Event; input: Pick<LedgerContext, 'ledgerId' | 'owner'> },
  guards: {
    isSmall: ({ event }) => Number(event.amount) <= 100,
    isReadable: () => {
      throw new Error('this guard always throws');
    },
  },
  actions: {
    launchScope: (_, _params: { scopeId: ScopeId }) => {},
    drainScope: (_, _params: { scopeId: ScopeId }) => {},
  },
});

const add = ledgerSetup.assign({
  total: ({ context, event }) => context.total + Number(event.amount),
  entries: ({ context }) => context.entries + 1,
  last: ({ event }) => event.eventId,
});
const giveTo = ledgerSetup.assign({ owner: ({ event }) => String(event.owner) });
const nothing = ledgerSetup.assign({});
const fail = ledgerSetup.assign(() => {
  throw new Error('this action always throws');
});

/** Two regions, so that one of them being over is not enough (ruling 14). */
export const ledgerMachine = ledgerSetup.createMachine({
  id: 'ledger',
  type: 'parallel',
  context: ({ input }) => ({ ...input, total: 0, entries: 0, last: null }),
  states: {
    book: {
      initial: 'open',
      states: {
        open: {
          on: {
            'ledger.added': { guard: 'isSmall', actions: add },
            'ledger.noted': { actions: nothing },
            'ledger.given': { actions: giveTo },
            'ledger.guarded': { guard: 'isReadable', target: 'closed' },
            'ledger.failed': { actions: fail },
            'ledger.launched': {
              actions: [add, { type: 'launchScope', params: ({ event }) => ({ scopeId: event.eventId as ScopeId }) }],
            },
            'ledger.drained': {
              actions: [add, { type: 'drainScope', params: ({ event }) => ({ scopeId: event.eventId as ScopeId }) }],
            },
            'ledger.passed': { actions: add },
            'ledger.closed': 'closed',
          },
        },
        closed: {
          tags: 'terminal',
          on: { 'ledger.noted': { actions: nothing }, 'ledger.passed': { actions: nothing } },
        },
      },
    },
    audit: { initial: 'due', states: { due: { on: { 'ledger.audited': 'done' } }, done: { tags: 'terminal' } } },
  },
});

const taskSetup = setup({
  types: {} as {
    context: { taskId: string; ledgerId: string | null };
    events: Event;
    input: { taskId: string; ledgerId: string | null };
  },
});

/** Ends in a final state of the whole machine, and has a root handler that must not run after that (JRN-12). */
export const taskMachine = taskSetup.createMachine({
  id: 'task',
  context: ({ input }) => input,
  initial: 'reserved',
  states: { reserved: { on: { 'task.ended': 'ended' } }, ended: { type: 'final' } },
  on: { 'task.renamed': { actions: taskSetup.assign({ taskId: 'renamed' }) } },
});

const treeSetup = setup({
  types: {} as { context: { treeId: string; epoch: number }; events: Event; input: { treeId: string } },
});

export const treeMachine = treeSetup.createMachine({
  id: 'tree',
  context: ({ input }) => ({ ...input, epoch: 0 }),
  initial: 'open',
  states: {
    open: {
      on: {
        'tree.admitted': {
          actions: treeSetup.assign({ epoch: ({ context, event }) => Number(event.epoch ?? context.epoch + 1) }),
        },
      },
    },
  },
});

// biome-ignore lint/suspicious/noExplicitAny: definitions of several snapshot types in one record
type Definition = ActorDefinition<any>;

const ledger: Definition = {
  kind: 'goal',
  plane: 'semantic',
  machine: ledgerMachine,
  version: 1,
  structuralHash: structuralHash(ledgerMachine),
  isSettled: (snapshot) => snapshot.matches({ book: 'closed', audit: 'done' }),
  isReleased: (snapshot) => snapshot.matches({ book: 'closed' }),
  inputOf: (event) => ({ ledgerId: event.ledgerId, owner: event.owner ?? null }),
  links: ({ context }): Record<string, string> => (context.owner === null ? {} : { owner: context.owner }),
  upcasters: {},
};

const task: Definition = {
  kind: 'run',
  plane: 'local',
  machine: taskMachine,
  version: 1,
  structuralHash: structuralHash(taskMachine),
  isSettled: (snapshot) => snapshot.status === 'done',
  isReleased: (snapshot) => snapshot.status === 'done',
  inputOf: ({ taskId, ledgerId }) => ({ taskId, ledgerId: ledgerId ?? null }),
  links: ({ context }): Record<string, string> => (context.ledgerId === null ? {} : { ledgerId: context.ledgerId }),
  upcasters: {},
};

const tree: Definition = {
  kind: 'worktreeGeneration',
  plane: 'local',
  machine: treeMachine,
  version: 1,
  structuralHash: structuralHash(treeMachine),
  isSettled: () => false,
  isReleased: () => false,
  inputOf: ({ treeId }) => ({ treeId }),
  links: () => ({}),
  upcasters: {},
};

const amount = z.strictObject({ amount: z.int() });
const nothingMore = z.strictObject({});
const takenBy = (
  kind: string,
  payload: EventTypeEntry['payload'],
  more: Partial<EventTypeEntry> = {},
): EventTypeEntry => ({
  payload,
  actors: [kind],
  ...more,
});

const catalogue: Readonly<Record<string, EventTypeEntry>> = {
  'ledger.opened': takenBy('goal', z.strictObject({ ledgerId: z.string(), owner: z.string().optional() }), {
    creates: 'goal',
    idempotencyKey: ({ ledgerId }) => `ledger:${ledgerId}`,
  }),
  'ledger.added': takenBy('goal', z.strictObject({ amount: z.int(), memo: z.string().optional() })),
  'ledger.noted': takenBy('goal', nothingMore),
  'ledger.given': takenBy('goal', z.strictObject({ owner: z.string() })),
  'ledger.guarded': takenBy('goal', nothingMore),
  'ledger.failed': takenBy('goal', nothingMore),
  'ledger.launched': takenBy('goal', amount),
  'ledger.drained': takenBy('goal', amount),
  /** Goes on to the ledgers of `to`, one after the other, as the same event. */
  'ledger.passed': takenBy('goal', z.strictObject({ amount: z.int(), to: z.array(z.string()) })),
  'ledger.closed': takenBy('goal', nothingMore),
  'ledger.audited': takenBy('goal', nothingMore),
  'task.reserved': takenBy('run', z.strictObject({ taskId: z.string(), ledgerId: z.string().optional() }), {
    creates: 'run',
    idempotencyKey: ({ taskId }) => `task:${taskId}`,
  }),
  'task.ended': takenBy('run', nothingMore, { idempotencyKey: (_, taskId) => `end:${taskId}` }),
  'task.renamed': takenBy('run', nothingMore),
  'task.sampled': takenBy('run', z.strictObject({ basisVersion: z.int() })),
  'tree.registered': takenBy('worktreeGeneration', z.strictObject({ treeId: z.string() }), {
    creates: 'worktreeGeneration',
  }),
  'tree.admitted': takenBy('worktreeGeneration', z.strictObject({ taskId: z.string(), epoch: z.int().optional() })),
};

/** Closing a ledger ends its tasks; a passed amount goes on to the next ledger under its own id. */
function relaysOf({ id, event }: ActorChange): readonly Relay[] {
  if (event.type === 'ledger.closed') {
    return [
      { to: { kind: 'run', link: 'ledgerId', value: id }, type: 'task.ended', payload: {} },
    ] as unknown as Relay[];
  }
  if (event.type === 'ledger.passed') {
    const [next, ...to] = event.to as string[];
    if (next === undefined) return [];
    const relay = {
      to: { kind: 'goal', id: next },
      type: event.type,
      payload: { amount: event.amount, to },
      eventId: event.eventId,
    };
    return [relay] as unknown as Relay[];
  }
  return [];
}

export const fixtureProtocol: Protocol = {
  definitions: { goal: ledger, run: task, worktreeGeneration: tree },
  catalogue,
  relaysOf,
  bindingOf: ({ kind, event, after }) =>
    kind === 'worktreeGeneration' && event.type === 'tree.admitted'
      ? { runId: String(event.taskId), epoch: after.context.epoch }
      : undefined,
};
