/** Times, durations and sizes as short texts of a known width. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** `340 ms`, `12.4 s`, `3 min 05 s`, `2 h 10 min`, `4 d 3 h`. Milliseconds in. */
export function duration(ms: number): string {
  if (ms < 0) return `-${duration(-ms)}`;
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < minute) return `${(ms / second).toFixed(1)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min ${padded(Math.floor((ms % minute) / second))} s`;
  if (ms < day) return `${Math.floor(ms / hour)} h ${padded(Math.floor((ms % hour) / minute))} min`;
  return `${Math.floor(ms / day)} d ${Math.floor((ms % day) / hour)} h`;
}

/** `now`, `12 s ago`, `3 min ago`, `2 h ago`, then the date. Wall milliseconds in. */
export function ago(wallMs: number, nowMs: number): string {
  const past = nowMs - wallMs;
  if (past < 2 * second) return 'now';
  if (past < minute) return `${Math.floor(past / second)} s ago`;
  if (past < hour) return `${Math.floor(past / minute)} min ago`;
  if (past < day) return `${Math.floor(past / hour)} h ago`;
  return dateTime(wallMs).slice(0, 10);
}

/** `2026-03-04 05:06:07` in the time of the browser. */
export function dateTime(wallMs: number): string {
  const at = new Date(wallMs);
  const date = [at.getFullYear(), padded(at.getMonth() + 1), padded(at.getDate())].join('-');
  return `${date} ${clockTime(wallMs).slice(0, 8)}`;
}

/** `05:06:07.089` in the time of the browser. */
export function clockTime(wallMs: number): string {
  const at = new Date(wallMs);
  const parts = [at.getHours(), at.getMinutes(), at.getSeconds()].map(padded).join(':');
  return `${parts}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

/** `m:ss` of a recording. */
export function playTime(ms: number): string {
  const whole = Math.max(0, Math.floor(ms / second));
  const hours = Math.floor(whole / 3_600);
  const rest = `${Math.floor((whole % 3_600) / 60)}:${padded(whole % 60)}`;
  return hours === 0 ? rest : `${hours}:${rest.padStart(5, '0')}`;
}

/** `512 B`, `1.4 KiB`, `3.0 MiB`. */
export function size(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  for (; value >= 1_024 && unit < units.length - 1; unit += 1) value /= 1_024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

export const amount = (value: number): string => grouped.format(value);

function padded(value: number): string {
  return String(value).padStart(2, '0');
}
