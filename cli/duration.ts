/** Durations as people type them: `250`, `250ms`, `1.5s`, `5m`, `1h`; milliseconds inside. */
import { InvalidArgumentError } from 'commander';

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The API refuses more (contract, `durationMs`); saying so here names the option instead of a field. */
const longestMs = 86_400_000;

/** Whole milliseconds, or undefined for anything else, so that a caller can tell a duration from an id. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
  if (!match) return undefined;
  const value = Math.round(Number(match[1]) * (unitMs[match[2] ?? 'ms'] as number));
  return value <= longestMs ? value : undefined;
}

/** For commander: throws `InvalidArgumentError`, which the entry module turns into a usage error (exit 2). */
export function parseDuration(text: string): number {
  const value = durationMs(text);
  if (value === undefined) {
    throw new InvalidArgumentError('Give a duration such as 500ms, 2s, 5m or 1h (at most 24h; plain numbers are ms).');
  }
  return value;
}

/** A whole number within bounds, for commander. */
export function parseWhole(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(value) || value < minimum || value > maximum) {
      throw new InvalidArgumentError(`Give a whole number from ${minimum} to ${maximum}.`);
    }
    return value;
  };
}
