/**
 * A report of how this installation does, for somebody who has not got it: made of what a daemon says, where one answers,
 * and of what can still be read. Whatever cannot be read is named and keeps nothing else out.
 */
import { arch, version as kernelVersion, platform, release } from 'node:os';
import { join } from 'node:path';
import type { Places } from '../../actors/runtime/places.ts';
import { readHeader } from '../../persistence/connection.ts';
import { openForReading } from '../../persistence/reading.ts';
import { actorsOf, journalLines } from './journal.ts';
import { logTail } from './log.ts';
import { allowed, personal, redacted } from './redaction.ts';

export interface ReportFile {
  readonly name: string;
  readonly about: string;
  readonly text: string;
}

export interface Missing {
  readonly name: string;
  /** A code, or the class of what was thrown. */
  readonly why: string;
}

export interface BugReport {
  readonly files: readonly ReportFile[];
  readonly missing: readonly Missing[];
}

/** What the command line gets from a daemon, or in its place; each may throw. */
export interface Asked {
  readonly doctor: () => Promise<unknown>;
  readonly config: () => Promise<unknown>;
  readonly status: () => Promise<unknown>;
  readonly metrics: () => Promise<unknown>;
}

export const leftOut = [
  'titles, requests, labels, reasons and results that somebody wrote',
  'command lines, environments, prompts, keys that were typed, and whatever a workload has said',
  'names of files, branches, repositories, processes and hosts, and every path',
  'tokens, keys and the texts of receipts',
  'texts of errors: only the place in the program is kept',
];

interface Part {
  readonly name: string;
  readonly about: string;
  readonly make: () => Promise<string> | string;
}

export async function bugReport(places: Places, asked: Asked, version: string): Promise<BugReport> {
  const files: ReportFile[] = [];
  const missing: Missing[] = [];
  for (const { name, about, make } of partsOf(places, asked, version)) {
    try {
      files.push({ name, about, text: personal(await make()) });
    } catch (thrown) {
      missing.push({ name, why: whyOf(thrown) });
    }
  }
  return { files: [...files, contents(files, missing)], missing };
}

function partsOf(places: Places, asked: Asked, version: string): readonly Part[] {
  const { stateDir, logDir } = places;
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('');
  return [
    { name: 'versions.json', about: 'this program, Node and the kernel', make: () => json(versions(version)) },
    { name: 'schema.json', about: 'version and digest of the schema', make: () => json(schemaOf(stateDir)) },
    {
      name: 'doctor.json',
      about: 'the checks, and what they say of the host',
      make: async () => json(checksOf(await asked.doctor())),
    },
    {
      name: 'config.json',
      about: 'parameters: numbers and choices; texts are only said to be set',
      make: async () => json(configOf(await asked.config())),
    },
    {
      name: 'status.json',
      about: 'health, capacity and counts',
      make: async () => json(allowed(await asked.status())),
    },
    { name: 'metrics.json', about: 'what was measured', make: async () => json(allowed(await asked.metrics())) },
    {
      name: 'actors.json',
      about: 'how many there are of each kind, and the states of those that are not over',
      make: () => json(reading(stateDir, actorsOf)),
    },
    {
      name: 'journal.jsonl',
      about: 'the newest entries: types, ids, times and words of this program',
      make: () => lines(reading(stateDir, journalLines)),
    },
    { name: 'log.jsonl', about: 'the end of the daemon’s log', make: () => lines(logTail(join(logDir, 'daemon.log'))) },
  ];
}

function reading<T>(stateDir: string, look: (store: ReturnType<typeof openForReading>) => T): T {
  const store = openForReading(stateDir);
  try {
    return look(store);
  } finally {
    store.close();
  }
}

const versions = (version: string) => ({
  custody: version,
  node: process.version,
  sqlite: process.versions.sqlite ?? null,
  platform: platform(),
  arch: arch(),
  kernel: release(),
  kernelBuild: kernelVersion(),
});

function schemaOf(stateDir: string): unknown {
  const { schemaVersion, isSchemaIntact, schemaDigest } = readHeader(join(stateDir, 'custody.db'));
  return { schemaVersion, isSchemaIntact, schemaDigest };
}

/** Checks whose details are about the host and the store; those of others name work. */
const hostChecks: ReadonlySet<string> = new Set([
  'platform',
  'procfs',
  'guardian',
  'store',
  'integrity',
  'contract',
  'operator',
  'place',
  'config',
  'terminals',
  'workGroup',
]);

interface Check {
  readonly id: string;
  readonly ok: boolean;
  readonly severity: string;
  readonly detail: string;
}

const checksOf = (data: unknown): unknown =>
  (data as { readonly checks: readonly Check[] }).checks.map(({ id, ok, severity, detail }) => ({
    id: redacted(id),
    ok,
    severity,
    ...(hostChecks.has(id) ? { detail: redacted(detail) } : {}),
  }));

interface Parameter {
  readonly name: string;
  readonly value: unknown;
  readonly origin: string;
}

const configOf = (data: unknown): unknown =>
  (data as { readonly values: readonly Parameter[] }).values.map(({ name, value, origin }) => ({
    name,
    origin,
    value:
      typeof value === 'number' || typeof value === 'boolean' ? value : origin === 'default' ? 'as shipped' : 'set',
  }));

/** Messages may hold anything; codes are stable words. */
function whyOf(thrown: unknown): string {
  const { code } = thrown as { readonly code?: unknown };
  return typeof code === 'string' && /^[A-Za-z_]{1,48}$/.test(code)
    ? code
    : ((thrown as Error | undefined)?.name ?? 'unknown');
}

function contents(files: readonly ReportFile[], missing: readonly Missing[]): ReportFile {
  const text = [
    'What is inside',
    ...files.map(({ name, about }) => `  ${name}: ${about}`),
    'What was left out',
    ...leftOut.map((each) => `  ${each}`),
    ...(missing.length === 0 ? [] : ['What could not be read', ...missing.map(({ name, why }) => `  ${name}: ${why}`)]),
    '',
  ].join('\n');
  return { name: 'contents.txt', about: 'this list', text };
}
