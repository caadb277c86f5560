/**
 * A host for one scope, its run and, where there is one, its session, in memory: calls are all or nothing, relays are
 * delivered at once and may be refused (ruling 3). Snapshots are interned, so that a step from the same state with the same event is computed once.
 */
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { canonicalJson } from '../../../machines/canonical.ts';
import type { MachineEvent } from '../../../machines/events/envelope.ts';
import { executionScopeMachine, type ScopeSnapshot } from '../../../machines/executionScope.ts';
import { ptySessionMachine, type SessionSnapshot } from '../../../machines/ptySession.ts';
import { type Relay, relaysOf } from '../../../machines/relays.ts';
import { type RunSnapshot, runMachine } from '../../../machines/run.ts';
import { start, step } from '../../../machines/step.ts';
import { runInput } from '../tables/run.ts';
import type { JointEvent } from './jointEvents.ts';
import { scopeInput } from './scopeSamples.ts';
import { sessionInput } from './sessionSamples.ts';

export type Kind = JointEvent['call'][number]['to'];

/** Numbers of interned snapshots. */
export interface Pair {
  readonly executionScope: number;
  readonly run: number;
  /** Never moves where no session takes part. */
  readonly ptySession: number;
}

interface Taken {
  readonly next: number;
  readonly change: 'changed' | 'noop' | 'unmatched';
  readonly relays: readonly Relay[];
}

export type Machines = Readonly<Partial<Record<Kind, AnyStateMachine>>>;

/** Snapshots with equal answers are taken for one situation; both keep whatever a guard or a law asks about. */
export interface Views {
  readonly executionScope: (snapshot: ScopeSnapshot) => unknown;
  readonly run: (snapshot: RunSnapshot) => unknown;
  readonly ptySession?: (snapshot: SessionSnapshot) => unknown;
}

export interface MemoryHost {
  readonly start: Pair;
  readonly scope: (pair: Pair) => ScopeSnapshot;
  readonly run: (pair: Pair) => RunSnapshot;
  readonly session: (pair: Pair) => SessionSnapshot;
  /** undefined where the call was refused and nothing happened. */
  readonly submit: (pair: Pair, event: JointEvent) => Pair | undefined;
  /** Steps that were really computed. */
  readonly computed: () => number;
}

export interface HostOptions {
  readonly machines?: Machines;
  readonly input?: Parameters<typeof scopeInput>[0];
  readonly views?: Views;
  /** A session takes part, opened like this. */
  readonly session?: Parameters<typeof sessionInput>[0];
}

const everything = ({ value, context }: AnyMachineSnapshot): unknown => [value, context];

const ids: Readonly<Record<Kind, string>> = { executionScope: 'S1', run: 'R1', ptySession: 'P1' };

export function createMemoryHost({ machines = {}, input = {}, views, session }: HostOptions = {}): MemoryHost {
  const charts: Readonly<Record<Kind, AnyStateMachine>> = {
    executionScope: executionScopeMachine,
    run: runMachine,
    ptySession: ptySessionMachine,
    ...machines,
  };
  /** Generations take no part. */
  const isHere = ({ to }: Relay): boolean => to.kind in charts && (to.kind !== 'ptySession' || session !== undefined);
  const interned = {
    executionScope: intern(views?.executionScope as typeof everything | undefined),
    run: intern(views?.run as typeof everything | undefined),
    ptySession: intern(views?.ptySession as typeof everything | undefined),
  };
  const memo = new Map<string, Taken>();

  function take(kind: Kind, from: number, { event, key: eventKey }: Spelt): Taken {
    const key = `${kind}|${from}|${eventKey}`;
    const known = memo.get(key);
    if (known !== undefined) return known;
    const before = interned[kind].at(from);
    const { snapshot: after, change } = step(charts[kind], before, event);
    const relays = change === 'changed' ? relaysOf({ kind, id: ids[kind], before, after, event }) : [];
    const taken = { next: interned[kind].numberOf(after), change, relays: relays.filter(isHere) };
    memo.set(key, taken);
    return taken;
  }

  function deliver(pair: Pair, kind: Kind, spelt: Spelt): Pair | undefined {
    const { next, change, relays } = take(kind, pair[kind], spelt);
    if (change === 'unmatched') return undefined;
    return relays.reduce<Pair>((at, relay) => deliver(at, relay.to.kind as Kind, spell(relay, relay)) ?? at, {
      ...pair,
      [kind]: next,
    });
  }

  return {
    start: {
      executionScope: interned.executionScope.numberOf(start(charts.executionScope, scopeInput(input)).snapshot),
      run: interned.run.numberOf(start(charts.run, runInput()).snapshot),
      ptySession: interned.ptySession.numberOf(start(charts.ptySession, sessionInput(session)).snapshot),
    },
    scope: ({ executionScope }) => interned.executionScope.at(executionScope) as ScopeSnapshot,
    run: ({ run }) => interned.run.at(run) as RunSnapshot,
    session: ({ ptySession }) => interned.ptySession.at(ptySession) as SessionSnapshot,
    submit: (pair, { call }) =>
      call.reduce<Pair | undefined>(
        (at, { to, told }) => at && deliver(at, to, spell(told, { type: told[0], payload: told[1] })),
        pair,
      ),
    computed: () => memo.size,
  };
}

interface Spelt {
  readonly event: MachineEvent;
  /** Equal for equal events. */
  readonly key: number;
}

const texts = new Map<string, number>();

function numberOfText(text: string): number {
  const known = texts.get(text) ?? texts.size;
  texts.set(text, known);
  return known;
}

const spelt = new WeakMap<object, Spelt>();

/** Event ids say only the type: which delivery carried a fact must not make two situations of one. */
function spell(source: object, { type, payload }: { readonly type: string; readonly payload: object }): Spelt {
  let found = spelt.get(source);
  if (found === undefined) {
    const event = { ...payload, type, eventId: `e ${type}` };
    found = { event, key: numberOfText(canonicalJson(event)) };
    spelt.set(source, found);
  }
  return found;
}

function intern(view = everything) {
  const snapshots: AnyMachineSnapshot[] = [];
  const numbers = new Map<string, number>();
  return {
    at: (number: number): AnyMachineSnapshot => snapshots[number] as AnyMachineSnapshot,
    numberOf(snapshot: AnyMachineSnapshot): number {
      const key = canonicalJson(view(snapshot));
      const known = numbers.get(key);
      if (known !== undefined) return known;
      numbers.set(key, snapshots.length);
      return snapshots.push(snapshot) - 1;
    },
  };
}
