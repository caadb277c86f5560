#!/usr/bin/env node
/**
 * The PTY host's entry module. Started detached by the daemon with the socket, the state directory and the limits as its
 * arguments; with a pipe on descriptor 3 it says there, in one line, that it listens.
 */
import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { presentOperatorKey, rightsOf } from '../actors/runtime/credentials.ts';
import { startPtyHost } from '../pty/host/process.ts';
import { renderedScreens } from '../pty/host/renderedScreens.ts';
import type { Permits } from '../pty/host/server.ts';
import { createScreens } from '../pty/screen/screens.ts';
import { HostError } from '../pty/wire/hostError.ts';
import { version } from './version.ts';

const { values } = parseArgs({
  options: {
    socket: { type: 'string' },
    'state-dir': { type: 'string' },
    limits: { type: 'string', default: '{}' },
  },
});

const limits = z.object({
  // As much text as may be sent at once, with its brackets and Enter.
  inputMaxBytes: z
    .int()
    .positive()
    .default(4 * 1024 * 1024 + 1024),
  lingerMs: z.int().nonnegative().default(10_000),
  finalDrainMs: z.int().nonnegative().default(200),
  activityMs: z.int().positive().default(1_000),
  idleMs: z.int().positive().default(60_000),
});

/** The log may be on a full disk, and that is no reason to hang up on anybody. */
function note(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // Nobody is left to be told.
  }
}

/** Read each time that somebody comes: a key that was made anew is in force at once. */
function permitsIn(stateDir: string): Permits {
  return (role, credential) => {
    const rights = rightsOf(keyIn(stateDir), credential ?? '');
    if (rights === undefined || rights.of === 'operator') return rights !== undefined;
    return role === 'client' && rights.grants.includes('sessions') && { sessionId: rights.sessionId };
  };
}

function keyIn(stateDir: string): string {
  try {
    const key = presentOperatorKey({ stateDir });
    if (key !== undefined) return key;
  } catch (error) {
    throw new HostError('not_operator', (error as Error).message);
  }
  throw new HostError('not_operator', 'the key of the operator is not there');
}

async function main(): Promise<void> {
  process.umask(0o077);
  if (values.socket === undefined || values['state-dir'] === undefined)
    throw new Error('--socket or --state-dir is missing');
  const host = await startPtyHost({
    socketPath: values.socket,
    version,
    permits: permitsIn(values['state-dir']),
    limits: limits.parse(JSON.parse(values.limits)),
    screensFor: (onReply) =>
      renderedScreens(createScreens({ workerPath: new URL('./screenWorker.js', import.meta.url), onReply })),
  });
  // Each session's state is its own. Ending here would hang up every other terminal, so a fault is written down instead.
  process.on('uncaughtException', (error) => note(`${new Date().toISOString()} ${error.stack}\n`));
  for (const signal of ['SIGHUP', 'SIGINT'] as const) process.on(signal, () => {});
  // The terminals of others end with this process, so it goes only when there are none.
  process.on('SIGTERM', () => {
    if (!host.isEmpty()) return;
    host.close();
    process.exit(0);
  });
  writeSync(3, `${JSON.stringify({ ok: true, pid: process.pid })}\n`);
  await host.left;
  host.close();
  process.exit(0);
}

main().catch((error: unknown) => {
  const { code = 'internal_error', message } = error as NodeJS.ErrnoException;
  writeSync(3, `${JSON.stringify({ ok: false, code, message })}\n`);
  process.exit(1);
});
