/**
 * Parameters of section 0.2 with where each value came from. The file is JSON with comments; a name that is not listed
 * here is an error, because a misspelt limit that is silently ignored is worse than a daemon that does not start.
 */
import { readFileSync } from 'node:fs';
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { OperatingError } from '../runtime/operatingError.ts';
import type { Places } from '../runtime/places.ts';
import type { ConfigValueView } from './api/views.ts';

interface Parameter {
  readonly default: number | string;
  readonly unit: string | null;
  readonly minimum?: number;
  readonly choices?: readonly string[];
  readonly description: string;
}

const parameters = {
  capacity: {
    default: 8,
    unit: 'slots',
    minimum: 1,
    description: 'How many scopes may hold a slot at once.',
  },
  handshakeMs: {
    default: 5_000,
    unit: 'ms',
    minimum: 100,
    description:
      'How long a guardian may take to report its identities; it closes its gate by itself after twice this.',
  },
  onRootExit: {
    default: 'terminate',
    unit: null,
    choices: ['terminate', 'wait'],
    description: 'What happens to what a root leaves behind: terminate drains it, wait keeps the scope live.',
  },
  graceMs: { default: 500, unit: 'ms', minimum: 0, description: 'Time between SIGTERM and the freeze of a drain.' },
  drainBudgetMs: {
    default: 2_000,
    unit: 'ms',
    minimum: 100,
    description: 'Time that one scope has to drain before it counts as stalled.',
  },
  shutdownBudgetMs: { default: 30_000, unit: 'ms', minimum: 1_000, description: 'Time that a whole shutdown has.' },
  observeIntervalMs: {
    default: 1_000,
    unit: 'ms',
    minimum: 50,
    description: 'Pause between two passes of the observation lane.',
  },
  reconcileBatch: {
    default: 64,
    unit: 'identities',
    minimum: 1,
    description: 'Identities sampled in one batch.',
  },
  reconcileTimeMs: {
    default: 200,
    unit: 'ms',
    minimum: 1,
    description: 'Time budget of one observation pass.',
  },
  responseMs: {
    default: 250,
    unit: 'ms',
    minimum: 10,
    description: 'How long a guardian may take to answer before it is shown as unresponsive; that moves nothing.',
  },
  logMaxBytes: {
    default: 5_242_880,
    unit: 'bytes',
    minimum: 65_536,
    description: 'Size at which the daemon log is rotated.',
  },
} as const satisfies Record<string, Parameter>;

type Parameters = typeof parameters;
export type Config = {
  readonly [Name in keyof Parameters]: Parameters[Name]['default'] extends string ? string : number;
};

export interface LoadedConfig {
  readonly config: Config;
  readonly values: readonly ConfigValueView[];
  readonly file: string;
}

/** Reads the file and `CUSTODY_<NAME>` variables (environment wins). Throws `config_invalid` (exit 2) naming the line. */
export function loadConfig(places: Places, env: Readonly<Record<string, string | undefined>>): LoadedConfig {
  const fromFile = readConfigFile(places.configFile);
  const values: ConfigValueView[] = [];
  const config: Record<string, number | string> = {};
  for (const [name, parameter] of Object.entries(parameters) as [string, Parameter][]) {
    const variable = `CUSTODY_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
    const raw = env[variable] ?? fromFile[name];
    const origin = env[variable] !== undefined ? 'environment' : fromFile[name] !== undefined ? 'file' : 'default';
    const place =
      origin === 'environment'
        ? { name: `${variable}: ${name}`, next: `unset ${variable}` }
        : { name: `${places.configFile}: ${name}`, next: edit(places.configFile) };
    const value = raw === undefined ? parameter.default : checked(place, parameter, raw);
    config[name] = value;
    values.push({ name, value, origin, unit: parameter.unit, description: parameter.description });
  }
  return { config: config as Config, values, file: places.configFile };
}

interface Place {
  readonly name: string;
  readonly next: string;
}

const edit = (file: string): string => `edit ${file}`;

function checked({ name, next }: Place, parameter: Parameter, raw: unknown): number | string {
  if (parameter.choices) {
    if (typeof raw === 'string' && parameter.choices.includes(raw)) return raw;
    throw invalid(`${name} must be one of ${parameter.choices.join(', ')}`, next);
  }
  const value = typeof raw === 'string' ? Number(raw) : raw;
  const minimum = parameter.minimum ?? 0;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum) return value;
  throw invalid(`${name} must be a whole number of ${parameter.unit ?? 'units'}, at least ${minimum}`, next);
}

function readConfigFile(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw invalid(`cannot read ${file}: ${(cause as NodeJS.ErrnoException).code}`, edit(file));
  }
  const errors: ParseError[] = [];
  const parsed: unknown = parse(text, errors, { allowTrailingComma: true });
  const first = errors[0];
  if (first) {
    const line = text.slice(0, first.offset).split('\n').length;
    throw invalid(`${file} line ${line}: ${printParseErrorCode(first.error)}`, edit(file));
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw invalid(`${file} must hold one object`, edit(file));
  const unknownName = Object.keys(parsed).find((name) => !Object.hasOwn(parameters, name));
  if (unknownName) throw invalid(`${file}: there is no parameter named ${JSON.stringify(unknownName)}`, edit(file));
  return parsed as Record<string, unknown>;
}

function invalid(message: string, next: string): OperatingError {
  return new OperatingError({ code: 'config_invalid', message, exitCode: 2, next: [next] });
}
