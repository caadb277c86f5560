/**
 * The process that holds the terminals (ruling 20). It outlives every daemon, because a terminal cannot change its
 * holder: it is started detached, listens in the private directory of the installation, and ends when the daemon asks
 * and nothing is open.
 */

import { basename, dirname } from 'node:path';
import { chdir } from 'node:process';
import { TranscriptUnavailableError } from '../transcript/errors.ts';
import { defaultSegmentBytes } from '../transcript/layout.ts';
import { openTranscript } from '../transcript/writer.ts';
import { HostError } from '../wire/hostError.ts';
import type { SessionScreens } from './ports.ts';
import { HostServer, type Permits } from './server.ts';
import type { SessionLimits } from './session.ts';
import { Sessions, type SessionsOptions } from './sessions.ts';

export interface PtyHostOptions {
  /** Absolute; its directory is private to this user. */
  readonly socketPath: string;
  readonly version: string;
  readonly permits: Permits;
  readonly limits: SessionLimits & { readonly idleMs: number };
  /** Made with what takes the answers of the rendered terminals. */
  readonly screensFor: (reply: (sessionId: string, bytes: string) => void) => SessionScreens;
}

export interface PtyHost {
  /** Resolves when the daemon has sent it home. */
  readonly left: Promise<void>;
  readonly isEmpty: () => boolean;
  close(): void;
}

/** Throws EADDRINUSE when another host has the socket. */
export async function startPtyHost(options: PtyHostOptions): Promise<PtyHost> {
  const { socketPath, version, permits, limits, screensFor } = options;
  let leave!: () => void;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const screens = screensFor((sessionId, bytes) => sessions.reply(sessionId, bytes));
  const sessions: Sessions = new Sessions({
    limits,
    screens,
    openTranscript: transcriptOf,
    report: (event) => server.report(event),
    clock: () => performance.now(),
  });
  const server: HostServer = new HostServer({ sessions, screens, version, permits, leave, idleMs: limits.idleMs });
  await listen(server, socketPath);
  return { left, isEmpty: () => sessions.isEmpty, close: () => server.server.close() };
}

/** From within its directory, because a socket's address holds 107 bytes and the path may be longer (unix(7)). */
async function listen({ server }: HostServer, socketPath: string): Promise<void> {
  chdir(dirname(socketPath));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(basename(socketPath), resolve);
  });
}

const transcriptOf: SessionsOptions['openTranscript'] = ({ transcript, sessionId, cols, rows, term }, onFault) => {
  try {
    const { dir, maxBytes, segmentBytes = defaultSegmentBytes } = transcript;
    const header = { sessionId, cols, rows, term };
    return openTranscript({ dir, header, onFault, segmentBytes, ...(maxBytes === null ? {} : { maxBytes }) });
  } catch (error) {
    if (!(error instanceof TranscriptUnavailableError)) throw error;
    throw new HostError('transcript_unavailable', error.message);
  }
};
