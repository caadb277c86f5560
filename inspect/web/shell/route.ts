/**
 * Where somebody is, kept in the fragment of the address: it survives a reload, can be handed on, and never reaches a log
 * of the server. `#/actor/run/r_1?at=42` is the place `['actor', 'run', 'r_1']` with the query `{ at: '42' }`.
 */
import { computed, signal } from '@preact/signals';

export interface Route {
  readonly place: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return {
    place: path.split('/').filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

/** The address of a place; empty values of the query are left out. */
export function hrefOf(place: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const said = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(said).toString();
  return `#/${place.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

/** Between two changes of the address, at least. */
const restMs = 400;
let unwritten: string | undefined;
let resting: ReturnType<typeof setTimeout> | undefined;

const current = signal<Route>(parseRoute(location.hash));
addEventListener('hashchange', () => {
  // Whoever is elsewhere already changes nothing of the address there.
  unwritten = undefined;
  current.value = parseRoute(location.hash);
});

export const route = computed(() => current.value);
/** The first part of the place. Views that depend on nothing else are not drawn again when the rest changes. */
export const view = computed(() => current.value.place[0] ?? 'fleet');

export function go(place: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): void {
  write();
  location.hash = hrefOf(place, query);
}

/**
 * Changes the query of the place where somebody is, without a step in the history: what a slider or a filter does. It counts
 * at once; the address follows with rests between, because browsers take no more addresses, and follow no more links, where
 * a page changes its own too often (Chromium 200 times in ten seconds, WebKit 100 times in thirty).
 */
export function amend(query: Readonly<Record<string, string | undefined>>): void {
  const { place, query: before } = current.value;
  unwritten = hrefOf(place, { ...before, ...query });
  current.value = parseRoute(unwritten);
  writeRested();
}

function writeRested(): void {
  if (resting !== undefined || unwritten === undefined) return;
  write();
  resting = setTimeout(() => {
    resting = undefined;
    writeRested();
  }, restMs);
}

function write(): void {
  if (unwritten !== undefined) history.replaceState(history.state, '', unwritten);
  unwritten = undefined;
}

addEventListener('pagehide', write);
// A link leads away from here: what was chosen here is there for whoever comes back.
addEventListener('click', write, { capture: true });

/** What is not an encoding is taken as it stands: an address can be typed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
