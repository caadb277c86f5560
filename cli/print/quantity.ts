/** Times and sizes as people read them. */

/** `3s`, `12m`, `5h`, `2d`: one unit, rounded down, because an age is a hint and the JSON has the figure. */
export function duration(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1_000);
  if (seconds < 1) return `${Math.max(0, Math.round(ms))}ms`;
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** Age of a wall-clock time. A time ahead of this clock is shown as `now`. */
export const age = (wallMs: number, now = Date.now()): string =>
  wallMs >= now ? 'now' : `${duration(now - wallMs)} ago`;

export function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = -1;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

const short: Readonly<Record<string, string>> = { milliseconds: ' ms', seconds: ' s', count: '' };

/** What stands behind a figure: ` ms`, ` rows`; nothing where it only counts. */
export const unitBehind = (unit: string): string => short[unit] ?? ` ${unit}`;
