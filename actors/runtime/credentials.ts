/**
 * Who may ask for what (ruling 24). The operator's key is a private file of the installation; a session's token follows
 * from it and from the session's id, so it is stored nowhere and holds across daemons. Both tell honest callers apart: a
 * hostile process of the same user can read the file.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatingError } from './operatingError.ts';
import type { Places } from './places.ts';

const keyOf = ({ stateDir }: Pick<Places, 'stateDir'>): string => join(stateDir, 'operator.key');

const form = /^[0-9a-f]{64}$/;

/**
 * The key of this installation; made, once and whole, when it is not there. Throws `operator_key_unusable` (exit 9) for a
 * file that holds something else: tokens that follow from an empty key could be made by anybody. Throws what the file
 * system says.
 */
export function operatorKey(places: Pick<Places, 'stateDir'>): string {
  const path = keyOf(places);
  const present = keyIn(path);
  if (present !== undefined) return present;
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  return keyIn(path) ?? operatorKey(places);
}

function keyIn(path: string): string | undefined {
  let key: string;
  try {
    key = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  if (form.test(key)) return key;
  throw new OperatingError({
    code: 'operator_key_unusable',
    message: `${JSON.stringify(path)} does not hold a key`,
    exitCode: 9,
    next: [
      `move ${JSON.stringify(path)} away: a new key is made, and sessions that run already cannot report any more`,
    ],
  });
}

/** 64 hex digits. */
export const sessionToken = (key: string, sessionId: string): string =>
  createHmac('sha256', key).update(`session:${sessionId}`).digest('hex');

export function isSessionToken(key: string, sessionId: string, token: string): boolean {
  const expected = Buffer.from(sessionToken(key, sessionId));
  const given = Buffer.from(token);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
