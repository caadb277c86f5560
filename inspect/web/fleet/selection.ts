/** Which rows a search and a filter leave, and in which order. Pure: ten thousand rows are gone through on every change. */
import type { ActorRow } from '../../server/contract.ts';
import { type Kind, kindOrder } from '../text/kinds.ts';
import { type Tone, toneOf, toneRank } from '../text/tone.ts';

export interface Wanted {
  /** Words that all have to occur, in any order and case. */
  readonly text: string;
  readonly kind: string;
  readonly tone: string;
  readonly sort: string;
  /** Whether the scopes of Custody's own operations are shown that are over; what is wrong with one is shown always. */
  readonly internal: boolean;
}

export const isHidden = ({ internal, status }: ActorRow): boolean => internal && status === 'released';

export interface Judged {
  readonly row: ActorRow;
  readonly tone: Tone;
  /** Place of its tone, then of its kind. */
  readonly rank: number;
}

/** A row never changes, it is replaced; so what was found out about it holds as long as it is there. */
const judgements = new WeakMap<ActorRow, Judged>();

export function judged(row: ActorRow): Judged {
  let found = judgements.get(row);
  if (found === undefined) {
    const tone = toneOf(row);
    found = { row, tone, rank: rankOf(row, tone) * 2 * kindOrder.length + kindRank[row.kind] };
    judgements.set(row, found);
  }
  return found;
}

/** What failed and is over needs nobody any more: it comes behind what is still there. */
const rankOf = ({ status }: ActorRow, tone: Tone): number =>
  status === 'released' && tone === 'bad' ? (toneRank.idle + toneRank.done) / 2 : toneRank[tone];

const kindRank = Object.fromEntries(kindOrder.map((kind, index) => [kind, index])) as Readonly<Record<Kind, number>>;

/** Made for who searches, and not before: most rows are never searched. */
const searchable = new WeakMap<ActorRow, string>();

function searchedIn(row: ActorRow): string {
  let text = searchable.get(row);
  if (text === undefined) {
    text = [row.kind, row.id, row.label, row.goalId, row.waits, ...row.state].join(' ').toLowerCase();
    searchable.set(row, text);
  }
  return text;
}

export function selectRows(rows: readonly ActorRow[], wanted: Wanted): Judged[] {
  const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  const found: Judged[] = [];
  for (const row of rows) {
    if (!wanted.internal && isHidden(row)) continue;
    if (wanted.kind !== '' && row.kind !== wanted.kind) continue;
    const one = judged(row);
    if (wanted.tone !== '' && one.tone !== wanted.tone) continue;
    if (words.every((word) => searchedIn(row).includes(word))) found.push(one);
  }
  return found.sort(orders[wanted.sort] ?? byAttention);
}

export const orders: Readonly<Record<string, (a: Judged, b: Judged) => number>> = {
  attention: byAttention,
  newest: (a, b) => b.row.position - a.row.position || byId(a, b),
  kind: (a, b) => kindRank[a.row.kind] - kindRank[b.row.kind] || byAttention(a, b),
};

/** Within one tone the kinds keep together, so that rows do not change places with every event. */
function byAttention(a: Judged, b: Judged): number {
  return a.rank - b.rank || byId(a, b);
}

function byId(a: Judged, b: Judged): number {
  if (a.row.id === b.row.id) return 0;
  return a.row.id < b.row.id ? -1 : 1;
}

export interface KindCount {
  readonly total: number;
  readonly tones: Readonly<Partial<Record<Tone, number>>>;
}

export function countsOf(rows: readonly ActorRow[]): ReadonlyMap<string, KindCount> {
  const counts = new Map<string, { total: number; tones: Partial<Record<Tone, number>> }>();
  for (const row of rows) {
    const count = counts.get(row.kind) ?? { total: 0, tones: {} };
    const { tone } = judged(row);
    count.total += 1;
    count.tones[tone] = (count.tones[tone] ?? 0) + 1;
    counts.set(row.kind, count);
  }
  return counts;
}
