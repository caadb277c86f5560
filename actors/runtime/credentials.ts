/**
 * Who may ask for what (ruling 24). The operator's key is a private file of the installation, and never leaves it: the
 * operator shows a proof that follows from it, a session a token that follows from it, from the session's id and from the
 * rights granted at the launch. So neither is stored anywhere, and both hold across daemons. They tell honest callers
 * apart: a hostile process of the same user can read the file.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, fstatSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatingError } from './operatingError.ts';
import type { Places } from './places.ts';

type Place = Pick<Places, 'stateDir'>;

const keyFile = ({ stateDir }: Place): string => join(stateDir, 'operator.key');

const form = /^[0-9a-f]{64}$/;

/** What a session may be granted at its launch: to drive other sessions, to create Goals. */
export const grantable = ['goals', 'sessions'] as const;
export type Grant = (typeof grantable)[number];

/** Whom a credential speaks for. */
export type Rights =
  | { readonly of: 'operator' }
  | { readonly of: 'session'; readonly sessionId: string; readonly grants: readonly Grant[] };

/**
 * The key of this installation; made, once and whole, when it is not there. Throws `operator_key_unusable` (exit 9) for a
 * file that holds something else (tokens that follow from an empty key could be made by anybody), that is somebody else's,
 * or that others may read. Throws what the file system says.
 */
export function operatorKey(places: Place): string {
  const path = keyFile(places);
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

/** Undefined when there is none. Throws as `operatorKey` does. */
export const presentOperatorKey = (places: Place): string | undefined => keyIn(keyFile(places));

function keyIn(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP') throw unusable(path, 'is a symbolic link');
    throw error;
  }
  try {
    return keyOfFile(path, file);
  } finally {
    closeSync(file);
  }
}

function keyOfFile(path: string, file: number): string {
  const { uid, mode } = fstatSync(file);
  if (!isRegular(mode)) throw unusable(path, 'is no file');
  if (uid !== process.getuid?.()) throw unusable(path, `belongs to user ${uid}`);
  if ((mode & 0o077) !== 0) {
    const found = (mode & 0o777).toString(8).padStart(4, '0');
    throw unusable(path, `has mode ${found}: others may use it`, [`chmod 600 ${JSON.stringify(path)}`]);
  }
  const key = readFileSync(file, 'utf8').trim();
  if (!form.test(key)) throw unusable(path, 'does not hold a key');
  return key;
}

const isRegular = (mode: number): boolean => (mode & constants.S_IFMT) === constants.S_IFREG;

const unusable = (path: string, why: string, first: readonly string[] = []): OperatingError =>
  new OperatingError({
    code: 'operator_key_unusable',
    message: `${JSON.stringify(path)} ${why}`,
    exitCode: 9,
    next: [
      ...first,
      `move ${JSON.stringify(path)} away: a new key is made, and sessions that run already cannot report any more`,
    ],
  });

const mac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex');

/** What the operator shows. */
export const operatorCredential = (key: string): string => `operator ${mac(key, 'operator')}`;

/** What a session shows: its id and its token. */
export const sessionCredential = (sessionId: string, token: string): string => `session ${sessionId} ${token}`;

/** At most 96 characters: 64 hex digits, and what was granted before them. */
export function sessionToken(key: string, sessionId: string, grants: readonly Grant[] = []): string {
  if (grants.length === 0) return mac(key, `session:${sessionId}`);
  const named = [...new Set(grants)].sort().join('+');
  return `${named}.${mac(key, `session:${sessionId}:${named}`)}`;
}

/** What a token says that was granted; whether it is true is known to the holder of the key. */
export const grantedIn = (token: string): readonly Grant[] =>
  (/^([a-z+]+)\./.exec(token)?.[1]?.split('+') ?? []) as Grant[];

/** What was granted to the session; undefined for a token that is not its own. */
export function grantsOf(key: string, sessionId: string, token: string): readonly Grant[] | undefined {
  const grants = grantedIn(token);
  return isSame(sessionToken(key, sessionId, grants), token) ? grants : undefined;
}

/** Undefined for a credential that this key has not made. */
export function rightsOf(key: string, credential: string): Rights | undefined {
  if (isSame(operatorCredential(key), credential)) return { of: 'operator' };
  const [of, sessionId = '', token = '', ...more] = credential.split(' ');
  if (of !== 'session' || more.length > 0) return undefined;
  const grants = grantsOf(key, sessionId, token);
  return grants && { of, sessionId, grants };
}

/** In constant time, so that nobody learns by trying how much of a guess was right. */
function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
