/** Moments as people and other programs write them; wall-clock milliseconds inside, for display and for comparing records. */

/** `2031-05-06`, `2031-05-06T07:08Z`, `2031-05-06T07:08:09.1+02:00` (RFC 3339, seconds left out if you like). */
const written = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * Undefined for anything else. A time of day without a zone is refused: it would mean another moment on another machine. A
 * day alone begins at midnight UTC.
 */
export function parseWallTime(text: string): number | undefined {
  const wallMs = written.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(wallMs) && wallMs >= 0 ? wallMs : undefined;
}
