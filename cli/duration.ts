/** Durations as people type them: `250ms`, `1.5s`, `5m`, `1h`; milliseconds inside. */
import { InvalidArgumentError } from 'commander';

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The API refuses more (contract, `durationMs`); saying so here names the option instead of a field. */
const longestMs = 86_400_000;

/** For commander: throws `InvalidArgumentError`, which the entry module turns into a usage error (exit 2). */
export function parseDuration(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  // Other programs read a bare number as seconds: taken for milliseconds it would end the work that it should give time.
  if (number !== undefined && unit === undefined && Number(number) !== 0)
    throw new InvalidArgumentError(`A number alone has no unit: say ${number}s or ${number}ms.`);
  const value = Math.round(Number(number) * (unitMs[unit ?? 'ms'] as number));
  if (value <= longestMs) return value;
  throw new InvalidArgumentError('Give a duration such as 500ms, 2s, 5m or 1h (at most 24h).');
}

const dayMs = 86_400_000;

/** How far back, in ms: also in days, and further than the API lets anybody wait. Undefined for what is no duration. */
export function parseSpan(text: string): number | undefined {
  const [, days] = /^(\d+(?:\.\d+)?)d$/.exec(text) ?? [];
  if (days !== undefined) return Math.round(Number(days) * dayMs);
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  return number === undefined ? undefined : Math.round(Number(number) * (unitMs[unit as string] as number));
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
