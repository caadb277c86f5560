/**
 * What may leave the machine. Nothing is kept because it looks harmless: numbers, flags, ids of this program and words
 * under names that hold words of this program are kept, everything else is left out. Lines of text lose their quoted
 * parts, their paths and whatever may be a key.
 */
import { hostname, userInfo } from 'node:os';

/** Names of fields whose texts come from a fixed vocabulary of this program. */
const vocabulary: ReadonlySet<string> = new Set([
  ...['state', 'kind', 'code', 'reasonCode', 'cause', 'result', 'how', 'verdict', 'outcome', 'phase', 'proofKind'],
  ...['gate', 'evidence', 'certainty', 'status', 'severity', 'origin', 'mode', 'lifecycle', 'authority', 'step'],
  ...[
    'integration',
    'convergence',
    'workload',
    'coverage',
    'termination',
    'capture',
    'scope',
    'exitReport',
    'workflow',
  ],
  ...['active', 'executing', 'running', 'unverified', 'reserved', 'terminal', 'failureClass', 'boundary', 'stage'],
]);
const word = /^[A-Za-z][A-Za-z0-9_./-]{0,63}$/;
/** A kind letter and ten characters (machines/ids.ts). */
const id = /^[GRWSPKXINCB][0-9a-z]{10}$/;
const digest = /^[0-9a-f]{64}$/;

/** A copy that holds nothing which is not allowed; undefined where nothing is left. */
export function allowed(value: unknown, name = ''): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'string') return isAllowed(value, name) ? value : undefined;
  if (Array.isArray(value)) {
    const kept = value.map((each) => allowed(each, name)).filter((each) => each !== undefined);
    return kept.length === 0 && value.length > 0 ? undefined : kept;
  }
  if (typeof value !== 'object') return undefined;
  const kept = Object.entries(value)
    .map(([field, each]) => [field, allowed(each, field)] as const)
    .filter(([field, each]) => each !== undefined && isName(field));
  return Object.fromEntries(kept);
}

function isAllowed(text: string, name: string): boolean {
  if (id.test(text)) return true;
  if (/Digest$/.test(name)) return digest.test(text);
  return vocabulary.has(name) && word.test(text) && !text.includes('/');
}

/** Keys of records may be chosen by somebody; names of fields are short, and ids are ids. */
const isName = (field: string): boolean => id.test(field) || /^[a-z][A-Za-z0-9]{0,31}$/.test(field);

/** A text of this program in which names of others may stand. */
export function redacted(text: string): string {
  return personal(text)
    .replace(/"(?:[^"\\]|\\.)*"/g, '<text>')
    .replace(/(?<![\w<])(?:~|\.{1,2})?\/[^\s"'`,;:()<>]+/g, '<path>')
    .replace(/[A-Za-z0-9+/_=-]{20,}/g, (run) => (/^[a-z_]+$/.test(run) ? run : '<key>'))
    .replace(/[^\x20-\x7e\n]/g, '?');
}

/** Whoever has a machine is named in paths and host names; a name of two letters would be found in every word. */
export function personal(
  text: string,
  { home = process.env.HOME ?? '', user = userName(), host = hostname() } = {},
): string {
  let kept = home.length > 1 ? text.replaceAll(home, '~') : text;
  for (const [name, stand] of [
    [user, '<user>'],
    [host, '<host>'],
  ] as const)
    if (name.length > 2 && !common.has(name)) kept = kept.replaceAll(new RegExp(`\\b${escaped(name)}\\b`, 'g'), stand);
  return kept;
}

/** Names of users that are words of this program as well, and nobody's. */
const common: ReadonlySet<string> = new Set(['root', 'custody', 'daemon', 'localhost', 'worker', 'user', 'operator']);

const escaped = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}
