/** The fields of an event as its page lists them, out of the schema that validates them. */
import { type EventType, payloadJsonSchema } from '../../machines/events/catalogue.ts';

export interface EventField {
  /** `window.from` for a field within a field. */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly unit: string | null;
}

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
}

export const fieldsOf = (type: EventType): readonly EventField[] => fieldsIn(payloadJsonSchema(type) as Schema, '');

function fieldsIn({ properties = {}, required = [] }: Schema, prefix: string): EventField[] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const name = prefix + key;
    const field = { name, type: typeOf(schema), isRequired: required.includes(key), unit: unitOf(key, schema) };
    return [field, ...fieldsIn(bare(schema), `${name}.`)];
  });
}

/** Without the alternative that it is not known. */
function bare(schema: Schema): Schema {
  const known = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  return known.length === 1 ? (known[0] as Schema) : schema;
}

function typeOf(schema: Schema): string {
  const isNullable = schema.anyOf?.some(({ type }) => type === 'null') ?? false;
  return plainType(bare(schema)) + (isNullable ? ' or null' : '');
}

function plainType({ type, const: only, enum: words, items, anyOf, additionalProperties }: Schema): string {
  if (only !== undefined) return `\`${String(only)}\``;
  if (words !== undefined) return words.map((word) => `\`${String(word)}\``).join(', ');
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (type === 'array') return `list of ${items === undefined ? 'anything' : plainType(bare(items))}`;
  if (type === 'object' && typeof additionalProperties === 'object') return `map to ${plainType(additionalProperties)}`;
  return type ?? 'anything';
}

const digestPattern = '^[0-9a-f]{64}$';

/** What numbers count, and how texts are written that are not read as text; null where the type says it all. */
const units: Readonly<Record<string, string>> = {
  adopted: 'processes',
  attempt: 'from 1',
  basisActivitySeq: 'counts output, or ticks',
  basisVersion: 'version of the record',
  batteryVersion: 'version',
  born: 'ns since 1970',
  boundary: 'occurrence',
  bytes: 'bytes',
  code: 'exit code',
  cols: 'columns',
  commit: 'git object id',
  count: 'events',
  dev: 'device number',
  errno: 'errno(3)',
  evidenceVersion: 'version',
  exitCode: 'exit code',
  expectedRevision: 'revision',
  expectedVersion: 'version',
  from: 'sequence number',
  ino: 'inode number',
  liveWorkers: 'workers',
  lostNested: 'guardians',
  namespace: 'opaque',
  occurrence: 'counts from 1',
  pending: 'scopes',
  pid: 'PID',
  pidfs: 'pidfs inode',
  priority: 'larger is sooner',
  processToken: 'opaque',
  reaped: 'processes',
  resumed: 'processes',
  round: 'index',
  rows: 'rows',
  scans: 'scans',
  sealEpoch: 'counts from 1',
  seq: 'counts from 1',
  activitySeq: 'counts from 1',
  signal: 'signal(7)',
  signalled: 'processes',
  skippedGuardians: 'guardians',
  start: 'clock ticks since boot',
  survivors: 'processes',
  to: 'sequence number',
  total: 'processes',
  uid: 'user id',
  unverified: 'scopes',
  waitStatus: 'raw, wait(2)',
};

function unitOf(name: string, schema: Schema): string | null {
  const { type, pattern, items } = bare(schema);
  if (pattern === digestPattern || items?.pattern === digestPattern) return 'SHA-256, hexadecimal';
  if (pattern?.startsWith('^[0-9a-f]{40}')) return 'git object id';
  if (type !== 'integer' && pattern === undefined) return null;
  if (/WallMs$|^wallMs$/.test(name)) return 'ms since 1970, for display';
  if (name === 'monoMs') return 'ms since boot';
  if (/Ms$/.test(name)) return 'ms';
  return Object.hasOwn(units, name) ? (units[name] ?? null) : type === 'integer' ? '?' : null;
}
