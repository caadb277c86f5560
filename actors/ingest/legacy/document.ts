/**
 * The format `custody-legacy/1` (docs/import.md): what a converter writes of another tool's records. The frame of a document
 * has to be right as a whole; below it each record stands for itself, and what is wrong with one is said with its place
 * (RFC 6901) and never with what stood there.
 */
import { type JSONPath, type JSONVisitor, printParseErrorCode, visit } from 'jsonc-parser';
import { z } from 'zod';
import { canonicalDigest } from '../../../machines/canonical.ts';
import { commit } from '../../../machines/events/fields.ts';
import { branchSchema, legacyNameSchema, legacyRunFields, toolSchema } from '../../../machines/legacyRecord.ts';
import { problemWord } from '../../../machines/problemWords.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { Entry, Listing } from './listing.ts';

export const documentFormat = 'custody-legacy/1';

/** Of all kinds, in one document. */
export const recordsAtMost = 100_000;

const entries = z.array(z.unknown()).default([]);

const frameSchema = z.strictObject({
  format: z.literal(documentFormat),
  tool: toolSchema,
  /** When it was written, for people. */
  exportedWallMs: z.int().min(0).optional(),
  worktrees: entries,
  runs: entries,
  bindings: entries,
});

const worktreeSchema = z.strictObject({
  id: legacyNameSchema,
  path: z.string().startsWith('/').max(4096),
  branch: branchSchema.nullable().default(null),
  commit: commit.nullable().default(null),
});
const runSchema = z.strictObject({ id: legacyNameSchema, ...legacyRunFields });
const bindingSchema = z.strictObject({ run: legacyNameSchema, worktree: legacyNameSchema });

/** Throws `document_invalid` (exit 2) for what is no such document. */
export function listingOfDocument(text: string): Listing {
  const { value, repeated } = parsed(text);
  const frame = frameSchema.safeParse(value);
  if (!frame.success) throw invalidDocument(problemsOf(frame.error.issues, ''));
  const ofFrame = repeated.filter((pointer) => !isInRecord(pointer));
  if (ofFrame.length > 0) throw invalidDocument(ofFrame.map((pointer) => `${pointer}: repeated_field`));
  const { tool, worktrees, runs, bindings } = frame.data;
  const count = worktrees.length + runs.length + bindings.length;
  if (count > recordsAtMost) throw invalidDocument([`more than ${recordsAtMost} records`]);
  const inRecords = new RepeatedFields(repeated);
  const listed = <Kind extends Entry['kind']>(kind: Kind, field: string, given: readonly unknown[]) =>
    given.map((one, at) => entryOf({ kind, at: `/${field}/${at}`, given: one, repeated: inRecords }));
  return {
    tool,
    entries: [
      ...listed('worktree', 'worktrees', worktrees),
      ...listed('run', 'runs', runs),
      ...listed('binding', 'bindings', bindings),
    ],
  };
}

interface Given {
  readonly kind: Entry['kind'];
  readonly at: string;
  readonly given: unknown;
  readonly repeated: RepeatedFields;
}

function entryOf({ kind, at, given, repeated }: Given): Entry {
  const schema = { worktree: worktreeSchema, run: runSchema, binding: bindingSchema }[kind];
  const verdict = schema.safeParse(given);
  const problems = [...(verdict.success ? [] : problemsOf(verdict.error.issues, at)), ...repeated.in(at)];
  if (!verdict.success || problems.length > 0) return { kind, at, problems };
  const digest = canonicalDigest(verdict.data);
  if (kind === 'worktree') {
    const { id, path, branch, commit: head } = verdict.data as z.output<typeof worktreeSchema>;
    return { kind, at, name: id, digest, path, branch, commit: head };
  }
  if (kind === 'run') {
    const { id: name, ...rest } = verdict.data as z.output<typeof runSchema>;
    return { kind, at, name, record: { kind, name, digest, ...rest } };
  }
  const { run, worktree } = verdict.data as z.output<typeof bindingSchema>;
  return { kind, at, name: run, record: { kind, run, worktree, digest } };
}

const isInRecord = (pointer: string): boolean => /^\/(worktrees|runs|bindings)\/\d+\//.test(pointer);

/** Places of the fields that a record has twice: whichever of them was meant, the other one would be lost. */
class RepeatedFields {
  readonly #byRecord = new Map<string, string[]>();

  constructor(pointers: readonly string[]) {
    for (const pointer of pointers) {
      const record = /^\/[^/]*\/[^/]*/.exec(pointer)?.[0] ?? '';
      this.#byRecord.set(record, [...(this.#byRecord.get(record) ?? []), `${pointer}: repeated_field`]);
    }
  }

  in(record: string): readonly string[] {
    return this.#byRecord.get(record) ?? [];
  }
}

interface Parsed {
  readonly value: unknown;
  readonly repeated: readonly string[];
}

function parsed(text: string): Parsed {
  const { problem, repeated } = lookedOver(text);
  if (problem !== undefined) throw invalidDocument([`not JSON: ${problem}`]);
  try {
    return { value: JSON.parse(text), repeated };
  } catch {
    throw invalidDocument(['not JSON']);
  }
}

/** JSON.parse neither says where it stopped without showing what stands there, nor which of two equal fields it dropped. */
function lookedOver(text: string): { readonly problem: string | undefined; readonly repeated: readonly string[] } {
  const repeated: string[] = [];
  const fields: Set<string>[] = [];
  let problem: string | undefined;
  const visitor: JSONVisitor = {
    onObjectBegin: () => void fields.push(new Set()),
    onObjectEnd: () => void fields.pop(),
    onObjectProperty(...[property, , , , , pathSupplier]) {
      const known = fields.at(-1);
      if (known?.has(property)) repeated.push(pointerOf([...pathSupplier(), property]));
      known?.add(property);
    },
    onError(...[error, , , line, column]) {
      problem ??= `line ${line + 1}, column ${column + 1}: ${worded(printParseErrorCode(error))}`;
    },
  };
  try {
    visit(text, visitor, { disallowComments: true, allowTrailingComma: false });
  } catch {
    problem ??= 'nested too deeply';
  }
  return { problem, repeated };
}

/** `InvalidCommentToken` as people write it. */
const worded = (code: string): string => code.replace(/\B[A-Z]/g, ' $&').toLowerCase();

/** Names of fields come from the document, so they are bounded here and escaped where they are shown. */
const pointerOf = (path: JSONPath | readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).slice(0, 64).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const problemsAtMost = 8;

/** One for each field that is wrong; a field that is not listed is named, whatever it holds. */
function problemsOf(issues: readonly z.core.$ZodIssue[], at: string): string[] {
  const problems = issues.flatMap((issue) => {
    const place = `${at}${pointerOf(issue.path)}`;
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => `${place}${pointerOf([key])}: unknown_field`);
    return [`${place === '' ? '/' : place}: ${problemWord(issue)}`];
  });
  return [...problems.slice(0, problemsAtMost), ...(problems.length > problemsAtMost ? ['and more'] : [])];
}

const invalidDocument = (problems: readonly string[]): OperatingError =>
  new OperatingError({
    code: 'document_invalid',
    message: `this is no ${documentFormat}: ${problems.join('; ')}`,
    exitCode: 2,
    next: ['custody import-legacy --help', 'see docs/import.md for the format'],
    details: { problems },
  });
