/**
 * The value of each parameter (section 0.2) with where it came from. The file is JSON with comments; a name that is not
 * listed is an error, because a misspelt limit that is silently ignored is worse than a daemon that does not start.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { z } from 'zod';
import { OperatingError } from '../runtime/operatingError.ts';
import type { Places } from '../runtime/places.ts';
import type { ConfigValueView } from './api/views.ts';
import { type CommandTable, type Parameter, type Parameters, parameters } from './configParameters.ts';

type Value<Default> = Default extends string ? string : Default extends number ? number : CommandTable;

export type Config = { readonly [Name in keyof Parameters]: Value<Parameters[Name]['default']> };

export interface LoadedConfig {
  readonly config: Config;
  readonly values: readonly ConfigValueView[];
  readonly file: string;
}

/** Reads the file and `CUSTODY_<NAME>` variables (environment wins). Throws `config_invalid` (exit 2) naming the line. */
export function loadConfig(places: Places, env: Readonly<Record<string, string | undefined>>): LoadedConfig {
  const fromFile = readConfigFile(places.configFile);
  const values: ConfigValueView[] = [];
  const config: Record<string, number | string | CommandTable> = {};
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

/** For whoever tries again: the first pause and the longest one (REC-09, OBS-04). */
export const retryPauses = ({
  retryBackoffMs,
  retryBackoffLongestMs,
}: Pick<Config, 'retryBackoffMs' | 'retryBackoffLongestMs'>) => ({
  firstMs: retryBackoffMs,
  longestMs: retryBackoffLongestMs,
});

/** The pace of an observer, and what it takes in one turn. */
export const observerPace = (
  config: Pick<Config, 'reconcileBatch' | 'retryBackoffMs' | 'retryBackoffLongestMs' | 'freshnessRowMs'>,
) => {
  const { firstMs: retryFirstMs, longestMs: retryLongestMs } = retryPauses(config);
  return { batch: config.reconcileBatch, retryFirstMs, retryLongestMs, freshnessRowMs: config.freshnessRowMs };
};

interface Place {
  readonly name: string;
  readonly next: string;
}

const edit = (file: string): string => `edit ${file}`;

function checked({ name, next }: Place, parameter: Parameter, raw: unknown): number | string | CommandTable {
  if ('commands' in parameter) return commandTable({ name, next }, raw);
  if ('choices' in parameter) {
    if (typeof raw === 'string' && parameter.choices.includes(raw)) return raw;
    throw invalid(`${name} must be one of ${parameter.choices.join(', ')}`, next);
  }
  if ('longest' in parameter) {
    if (typeof raw === 'string' && raw !== '' && raw.length <= parameter.longest) return raw;
    throw invalid(`${name} must be a text of 1 to ${parameter.longest} characters`, next);
  }
  const value = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw;
  const { minimum, maximum, unit } = parameter;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum && value <= maximum) return value;
  throw invalid(`${name} must be a whole number of ${unit}, at least ${minimum} and at most ${maximum}`, next);
}

const commandTableSchema = z.record(
  z.union([z.literal('*'), z.string().startsWith('/')]),
  z
    .array(
      z
        .string()
        .max(131_072)
        .regex(/^[^\0]*$/),
    )
    .min(1)
    .max(10_000),
);

/** In the environment it is JSON, as everything there is text. */
function commandTable({ name, next }: Place, raw: unknown): CommandTable {
  const table = commandTableSchema.safeParse(typeof raw === 'string' ? jsonOf(raw) : raw);
  if (table.success) return table.data;
  throw invalid(
    `${name} must be an object that gives, by the absolute path of a repository or "*", a command line as a list of words, such as {"*": ["npm", "test"]}`,
    next,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readConfigFile(file: string): Record<string, unknown> {
  const text = textOf(file);
  if (text === undefined) return {};
  const errors: ParseError[] = [];
  const parsed: unknown = parse(text, errors, { allowTrailingComma: true });
  const first = errors[0];
  if (first) {
    const line = text.slice(0, first.offset).split('\n').length;
    const what = printParseErrorCode(first.error)
      .replace(/\B[A-Z]/g, ' $&')
      .toLowerCase();
    throw invalid(`${file} line ${line}: ${what}`, edit(file));
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw invalid(`${file} must hold one object`, edit(file));
  // The parser sets what it reads, and a member named `__proto__` would become what every look-up falls back to.
  if (Object.getPrototypeOf(parsed) !== Object.prototype)
    throw invalid(`${file}: there is no parameter named "__proto__"`, edit(file));
  const unknownName = Object.keys(parsed).find((name) => !Object.hasOwn(parameters, name));
  if (unknownName)
    throw invalid(
      `${file}: there is no parameter named ${JSON.stringify(unknownName)}; ${namesLike(unknownName)}`,
      edit(file),
    );
  return parsed as Record<string, unknown>;
}

/** The names that begin alike, else all of them: `custody config` cannot list them while the file is wrong. */
function namesLike(wrong: string): string {
  const names = Object.keys(parameters);
  const beginning = wrong.slice(0, 3).toLowerCase();
  const alike = names.filter((name) => name.toLowerCase().startsWith(beginning));
  return alike.length > 0 ? `did you mean ${alike.join(' or ')}?` : `there are ${names.join(', ')}`;
}

const largestFileBytes = 1_048_576;

/** Undefined when there is none. Opening or reading anything but a file could wait for ever, or never come to an end. */
function textOf(file: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = fstatSync(descriptor);
    if (!found.isFile())
      throw invalid(`${file} is ${found.isDirectory() ? 'a directory' : 'not a regular file'}`, `move ${file} away`);
    if (found.size > largestFileBytes) throw invalid(`${file} is larger than ${largestFileBytes} bytes`, edit(file));
    return readFileSync(descriptor, 'utf8');
  } catch (cause) {
    if (cause instanceof OperatingError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw invalid(`cannot read ${file}: ${code}`, edit(file));
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function invalid(message: string, next: string): OperatingError {
  return new OperatingError({ code: 'config_invalid', message, exitCode: 2, next: [next] });
}
