/**
 * Terminals without the daemon: whoever watches one talks to its holder, and what is over lies on disk. So watching goes
 * on while the daemon is down, and needs none to begin.
 */
import { existsSync, readdirSync } from 'node:fs';
import { ambiguousId, notFound, OperatingError } from '../actors/runtime/operatingError.ts';
import { type Places, withSocketAddress } from '../actors/runtime/places.ts';
import { transcriptDirOf } from '../actors/runtime/unrecorded.ts';
import { HostClient, type HostClientOptions } from '../pty/wire/hostClient.ts';
import { HostError } from '../pty/wire/hostError.ts';
import type { SessionReport } from '../pty/wire/messages.ts';
import { credentialOf, requireSessions, sessionVariable } from './credential.ts';
import { usage } from './failure.ts';
import { requireOwn } from './ownership.ts';

export interface FoundSession {
  readonly sessionId: string;
  /** What the holder of its terminal says; undefined when nobody holds it. */
  readonly report: SessionReport | undefined;
  /** May not exist. */
  readonly transcriptDir: string;
}

/** Open connection to the holder of the terminals; whoever gets it closes it. */
export interface HostConnection {
  readonly client: HostClient;
  readonly sessions: readonly SessionReport[];
}

type Handlers = Partial<Pick<HostClientOptions, 'event' | 'output' | 'ended'>>;

const nothing = () => {};

/**
 * Undefined when nobody listens. Throws `pty_host_unresponsive` for a holder that accepts and stays silent (ruling 9), and
 * `not_operator`.
 */
export async function connectToHost(places: Places, handlers: Handlers = {}): Promise<HostConnection | undefined> {
  requireOwn(places.stateDir);
  requireSessions();
  const credential = credentialOf(places);
  try {
    const { client } = await withSocketAddress(places.ptyHostSocket, (address) =>
      HostClient.connect({ address, role: 'client', credential, event: nothing, ended: nothing, ...handlers }),
    );
    return { client, sessions: await client.sessions() };
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (['ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'host_gone'].includes(code as string)) return undefined;
    throw error instanceof HostError ? fromHost(error) : error;
  }
}

/** The one session that `typed` begins, living or over. Throws `not_found` and `ambiguous_id`. */
export function findSession(places: Places, typed: string, sessions: readonly SessionReport[]): FoundSession {
  const known = new Set([...sessions.map(({ sessionId }) => sessionId), ...stored(places)]);
  const matches = known.has(typed) ? [typed] : [...known].filter((id) => typed !== '' && id.startsWith(typed)).sort();
  const [only, second] = matches;
  if (only === undefined) throw notFound('session', typed);
  if (second !== undefined) throw ambiguousId(typed, matches);
  const report = sessions.find(({ sessionId }) => sessionId === only);
  return { sessionId: only, report, transcriptDir: transcriptDirOf(places, only) };
}

function stored({ transcriptsDir }: Places): string[] {
  return existsSync(transcriptsDir) ? readdirSync(transcriptsDir) : [];
}

/** Throws `usage` (exit 2) inside of that very session: a terminal that is shown in itself says what it says for ever. */
export function assertElsewhere(sessionId: string): void {
  if (process.env[sessionVariable] !== sessionId) return;
  throw usage(`this runs in ${sessionId}, and a terminal that shows itself never comes to an end`, [
    `custody sessions screen ${sessionId}`,
    `custody sessions tail ${sessionId}`,
  ]);
}

/** Connects just for finding out, and lets go. */
export async function lookUpSession(places: Places, typed: string): Promise<FoundSession> {
  const host = await connectToHost(places);
  host?.client.close();
  return findSession(places, typed, host?.sessions ?? []);
}

export const sessionEnded = (sessionId: string): OperatingError =>
  new OperatingError({
    code: 'session_ended',
    message: `the terminal of ${sessionId} is gone`,
    exitCode: 13,
    next: [
      `custody sessions export ${sessionId} --format text`,
      `custody sessions tail ${sessionId}`,
      `custody sessions show ${sessionId}`,
    ],
    details: { sessionId },
  });

/** The holder of the terminal went away in the middle: its sessions end with it (PTY-10). */
export const hostGone = (sessionId: string): OperatingError =>
  new OperatingError({
    code: 'pty_host_gone',
    message: `the process that held the terminal of ${sessionId} is gone`,
    exitCode: 10,
    next: [`custody sessions show ${sessionId}`, `custody sessions export ${sessionId} --format text`],
    details: { sessionId },
  });

/** What the holder refuses, in the shape of every other error. */
export function fromHost(error: HostError, sessionId?: string): OperatingError {
  if (sessionId !== undefined) {
    if (error.code === 'host_gone') return hostGone(sessionId);
    if (error.code === 'session_unknown' || error.code === 'session_ended') return sessionEnded(sessionId);
  }
  const isSilent = error.code === 'unresponsive';
  const isRefused = error.code === 'not_operator';
  return new OperatingError(
    {
      code: isSilent ? 'pty_host_unresponsive' : error.code,
      message: error.message,
      exitCode: isRefused ? 4 : isSilent || error.code === 'screen_unavailable' ? 10 : 1,
      retryable: isSilent,
      next: ['custody doctor'],
      details: { ...(sessionId === undefined ? {} : { sessionId }), ...error.details },
    },
    error,
  );
}
