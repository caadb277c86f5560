/** What has changed between two charts of one machine, as a list and as a chart that holds both. */
import { type Chart, type ChartState, type ChartTransition, statesOf } from './chart.ts';
import { nameOfEvent } from './label.ts';
import type { Change } from './svg.ts';

export interface Difference {
  /** Both charts in one: what was removed stands where it was. */
  readonly chart: Chart;
  /** By the ids of states and transitions in it. */
  readonly changes: ReadonlyMap<string, Change>;
  /** One line for each change; none where nothing has changed. */
  readonly lines: readonly string[];
}

/** Either chart is null where the machine is not there. */
export function differenceOf(before: Chart | null, after: Chart | null): Difference {
  const chart = after ?? before;
  if (chart === null) throw new TypeError('there are no charts to compare');
  const changes = new Map<string, Change>();
  const lines: string[] = [];
  const old = new Map((before === null ? [] : statesOf(before.root)).map((state) => [state.id, state]));
  const root = mergedState(after?.root ?? null, before?.root ?? null);
  for (const state of statesOf(root)) {
    const was = old.get(state.id);
    const is = after === null ? undefined : statesOf(after.root).find(({ id }) => id === state.id);
    const change = changeOf(was && ownOf(was), is && ownOf(is));
    if (change === null) continue;
    changes.set(state.id, change);
    lines.push(
      `${signs[change]} state ${state.id}${change === 'changed' ? changedFields(ownOf(was!), ownOf(is!)) : ''}`,
    );
  }
  const transitions = [...matched(before?.transitions ?? [], after?.transitions ?? [])].map(({ was, is }) => {
    const shown = is ?? { ...(was as ChartTransition), id: `${was?.id} (removed)` };
    const change = changeOf(was && contentOf(was), is && contentOf(is));
    if (change !== null) {
      changes.set(shown.id, change);
      const detail = change === 'changed' ? changedFields(contentOf(was!), contentOf(is!)) : '';
      lines.push(`${signs[change]} ${textOf(shown)}${detail}`);
    }
    return shown;
  });
  // What a chart keeps in its context is drawn nowhere, and is a reason for another version all the same.
  if (before !== null && after !== null && before.version !== after.version)
    lines.push(`~ version (${before.version} → ${after.version})`);
  return { chart: { ...chart, root, transitions, calls: { ...before?.calls, ...after?.calls } }, changes, lines };
}

const signs: Readonly<Record<Change, string>> = { added: '+', removed: '-', changed: '~' };

function changeOf(was: object | undefined, is: object | undefined): Change | null {
  if (was === undefined) return 'added';
  if (is === undefined) return 'removed';
  return JSON.stringify(was) === JSON.stringify(is) ? null : 'changed';
}

const ownOf = ({ children: _, id: __, ...own }: ChartState): object => own;

const contentOf = ({
  id: _,
  guards: __,
  condition: ___,
  source: ____,
  event: _____,
  ...content
}: ChartTransition): object => content;

/** ` (guard: a → b)` */
function changedFields(was: object, is: object): string {
  const fields = Object.entries(is).flatMap(([field, value]) => {
    const former = (was as Record<string, unknown>)[field];
    const [one, other] = [shown(former), shown(value)];
    return one === other ? [] : [`${field}: ${one} → ${other}`];
  });
  return ` (${fields.join('; ')})`;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return value === null || value === undefined ? 'none' : String(value);
}

const textOf = ({ source, event, targets, guard }: ChartTransition): string =>
  `${source} on ${nameOfEvent(event)}${guard === null ? '' : ` [${guard}]`} ${targets.length === 0 ? 'stays' : `to ${targets.join(', ')}`}`;

/** The later state with those of the earlier one that are no longer in it. */
function mergedState(is: ChartState | null, was: ChartState | null): ChartState {
  const state = (is ?? was) as ChartState;
  const removed = (was?.children ?? []).filter(({ id }) => !(is?.children ?? []).some((child) => child.id === id));
  if (is === null) return state;
  const children = is.children.map((child) =>
    mergedState(child, was?.children.find(({ id }) => id === child.id) ?? null),
  );
  const isInner = is.kind !== 'atomic' || removed.length === 0;
  return { ...state, kind: isInner ? state.kind : 'compound', children: [...children, ...removed] };
}

interface Pair {
  readonly was?: ChartTransition;
  readonly is?: ChartTransition;
}

/** Choices for the same event have no names: first those pair up that say the same, then the others in their order. */
function matched(before: readonly ChartTransition[], after: readonly ChartTransition[]): readonly Pair[] {
  const left = new Map<string, ChartTransition[]>();
  for (const was of before) left.set(placeOf(was), [...(left.get(placeOf(was)) ?? []), was]);
  const take = (is: ChartTransition, isFit: (was: ChartTransition) => boolean): ChartTransition | undefined => {
    const candidates = left.get(placeOf(is)) ?? [];
    const at = candidates.findIndex(isFit);
    return at < 0 ? undefined : candidates.splice(at, 1)[0];
  };
  const same = after.map((is) => take(is, (was) => changeOf(contentOf(was), contentOf(is)) === null));
  const pairs = after.map((is, index): Pair => {
    const was = same[index] ?? take(is, () => true);
    return was === undefined ? { is } : { was, is };
  });
  return [...pairs, ...[...left.values()].flat().map((was) => ({ was }))];
}

const placeOf = ({ source, event }: ChartTransition): string => `${source}#${event}`;
