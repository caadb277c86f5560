/** What differs between two values of JSON, as the paths at which they do. */

export interface Difference {
  /** Keys and indexes from the top. */
  readonly path: readonly string[];
  /** Undefined where it was not there. */
  readonly before: unknown;
  /** Undefined where it is there no more. */
  readonly after: unknown;
}

/** Goes down where both sides are objects or arrays; what was added or taken away as a whole is one difference. */
export function differences(before: unknown, after: unknown, path: readonly string[] = []): readonly Difference[] {
  if (Object.is(before, after)) return [];
  if (!isNested(before) || !isNested(after) || Array.isArray(before) !== Array.isArray(after)) {
    return [{ path, before, after }];
  }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differences(before[key], after[key], [...path, key]));
}

function isNested(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
