/** Says in sentences what an actor is, what it waits for, what stands in the way, who can help, and what came last. */
import type { AnyMachineSnapshot, AnyTransitionDefinition } from 'xstate';
import { HostError } from '../../actors/host/hostError.ts';
import type { ActorKind } from '../../machines/ids.ts';
import { definitions } from '../../machines/registry.ts';
import { evidenceOf } from './evidence.ts';
import type { Explanation, GuardAnswer, Unblocking } from './explanation.ts';
import { type Way, waysOn } from './guards.ts';
import { demand, refusal } from './guardWords.ts';
import { aboutFence } from './kinds/fence.ts';
import { aboutGeneration } from './kinds/generation.ts';
import { aboutGoal } from './kinds/goal.ts';
import { aboutRun } from './kinds/run.ts';
import { aboutScope } from './kinds/scope.ts';
import { aboutSession } from './kinds/session.ts';
import { aboutWorker } from './kinds/worker.ts';
import { lastOf } from './last.ts';
import type { ExplainSource } from './source.ts';
import { descriptionsAt, statePaths } from './states.ts';
import type { About, Subject } from './subject.ts';
import { inWords, sentence } from './words.ts';

const abouts: { readonly [Kind in ActorKind]: (subject: Subject<Kind>) => About } = {
  goal: aboutGoal,
  run: aboutRun,
  worktreeGeneration: aboutGeneration,
  executionScope: aboutScope,
  ptySession: aboutSession,
  workerIncarnation: aboutWorker,
  recoveryFence: aboutFence,
};

/** Undefined where there is no such actor. A record that cannot be trusted is explained as that, and concludes nothing. */
export function explain(source: ExplainSource, kind: ActorKind, id: string): Explanation | undefined {
  let snapshot: AnyMachineSnapshot | undefined;
  try {
    snapshot = source.host.snapshotOf(kind, id);
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    return untrusted(source, { kind, id, error: thrown });
  }
  return snapshot && explained(source, { kind, id, snapshot });
}

interface Found {
  readonly kind: ActorKind;
  readonly id: string;
  readonly snapshot: AnyMachineSnapshot;
}

function explained(source: ExplainSource, { kind, id, snapshot }: Found): Explanation {
  const next = waysOn(definitions[kind].machine, snapshot).map((way) => answerOf(kind, way));
  const about = abouts[kind]({ source, id, snapshot, next } as never);
  const state = statePaths(snapshot);
  const what = [about.what, ...descriptionsAt(kind, state)].join(' ');
  const unblocks = about.waitsFor.length === 0 ? [] : unblockings(about, next);
  const last = lastOf(source, kind, id);
  const waits = about.waitsFor.length === 0 ? [nothing(kind, snapshot)] : about.waitsFor;
  return {
    kind,
    id,
    version: source.host.versionOf(kind, id) ?? 0,
    state,
    what,
    waitsFor: about.waitsFor,
    next,
    unblocks,
    ending: about.ending ?? null,
    last,
    sentences: [
      what,
      ...waits,
      ...(about.facts ?? []),
      ...blocked(about.wants ?? [], next),
      ...unblocks.map((one) => one.sentence),
      last?.sentence ?? 'Nothing of it is in the journal any more.',
    ],
    fault: null,
  };
}

const nothing = (kind: ActorKind, snapshot: AnyMachineSnapshot): string =>
  definitions[kind].isSettled(snapshot) ? 'It is over, and nothing is waited for.' : 'Nothing is waited for.';

function answerOf(kind: ActorKind, { event, guard, answer, reads, open, refused, transition }: Way): GuardAnswer {
  const target = targetOf(transition);
  const does = target === null ? `${event} is noted and leads nowhere else` : `${event} leads to ${target}`;
  return { event, guard, answer, sentence: sentenceOf(kind, { does, answer, open, refused }), target, reads, refused };
}

interface Answered extends Pick<Way, 'answer' | 'open' | 'refused'> {
  readonly does: string;
}

function sentenceOf(kind: ActorKind, { does, answer, open, refused }: Answered): string {
  if (answer === true) return `${does}.`;
  if (answer === 'depends') return `${does}${condition(kind, open)}.`;
  if (refused.length === 0) return `${does}, but something else is done with it first.`;
  return `${does}, but not now: ${refused.map((name) => refusal(kind, name)).join('; ')}.`;
}

const condition = (kind: ActorKind, open: readonly string[]): string =>
  open.length === 0
    ? ', unless something else is done with it first'
    : `, if it shows that ${open.map((name) => demand(kind, name)).join(', and that ')}`;

const targetOf = ({ target }: AnyTransitionDefinition): string | null => target?.[0]?.id ?? null;

/** What the present state would take of that which helps: each event once, in the order in which it helps. */
function unblockings({ helps, notes = [] }: About, next: readonly GuardAnswer[]): readonly Unblocking[] {
  const noted: readonly string[] = notes;
  const open = new Set(
    next
      .filter(({ event, answer, target }) => answer !== false && (target !== null || noted.includes(event)))
      .map(({ event }) => event),
  );
  return helps
    .filter((event) => open.has(event))
    .flatMap((event) => {
      const { what, supplier } = evidenceOf(event);
      return supplier === null
        ? []
        : { evidence: event, supplier, sentence: sentence(`${what} would help; it comes from ${supplier}`) };
    });
}

/** Of that which is wanted, what the guards refuse whatever it brings. */
function blocked(wants: readonly string[], next: readonly GuardAnswer[]): readonly string[] {
  return wants.flatMap((event) => {
    const ways = next.filter((way) => way.event === event);
    const isRefused = ways.length > 0 && ways.every(({ answer }) => answer === false);
    const first = ways.find(({ refused }) => refused.length > 0);
    return isRefused && first !== undefined ? [`Blocked by a guard: ${first.sentence}`] : [];
  });
}

interface Untrusted {
  readonly kind: ActorKind;
  readonly id: string;
  readonly error: HostError;
}

function untrusted(source: ExplainSource, { kind, id, error }: Untrusted): Explanation {
  const what = `The record of ${inWords(kind)} ${id} cannot be trusted (${inWords(error.code)}), so nothing is concluded from it, and whatever it may stand for counts as unproved.`;
  const waitsFor = [`It waits for a record that can be read: ${error.next.join('; ')}.`];
  const last = lastOf(source, kind, id);
  return {
    ...{ kind, id, version: 0, state: [], what, waitsFor, next: [], unblocks: [], ending: null, last },
    sentences: [what, ...waitsFor, ...(last === null ? [] : [last.sentence])],
    fault: error.code,
  };
}
