/**
 * Whom this process speaks for. Work that runs under Custody speaks for its own session and never takes the operator's key,
 * although it could read the file: agents are not operators (ruling 24).
 */
import { grantedIn, operatorCredential, presentOperatorKey, sessionCredential } from '../actors/runtime/credentials.ts';
import { OperatingError } from '../actors/runtime/operatingError.ts';
import type { Places } from '../actors/runtime/places.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a session's work is told about itself. */
export const sessionVariable = 'CUSTODY_SESSION';
export const tokenVariable = 'CUSTODY_SESSION_TOKEN';

/** The run or session that this process works in; undefined for an operator's. */
export function workOf(env: Environment = process.env): string | undefined {
  return env[sessionVariable] || env.CUSTODY_RUN || (env[tokenVariable] ? 'a session' : undefined);
}

/**
 * What is shown to the daemon and to the holder of terminals. Undefined where there is no key to show. Throws
 * `not_operator` for work that has no token either, and `operator_key_unusable`.
 */
export function credentialOf(places: Places, env: Environment = process.env): string | undefined {
  const { [sessionVariable]: sessionId, [tokenVariable]: token } = env;
  if (sessionId && token) return sessionCredential(sessionId, token);
  requireOperator(env);
  const key = presentOperatorKey(places);
  return key === undefined ? undefined : operatorCredential(key);
}

/** For what lies in files, which nobody else would refuse. Throws `not_operator` for work that may not drive sessions. */
export function requireSessions(env: Environment = process.env): void {
  if (!grantedIn(env[tokenVariable] ?? '').includes('sessions')) requireOperator(env);
}

/** Throws `not_operator` (exit 4) inside of a run. */
export function requireOperator(env: Environment = process.env): void {
  const work = workOf(env);
  if (work === undefined) return;
  throw new OperatingError({
    code: 'not_operator',
    message: `agents are not operators: this runs in ${work}, under Custody`,
    exitCode: 4,
    next: ['ask the operator', 'custody agent --help: what work may say of itself'],
    details: { work },
  });
}
