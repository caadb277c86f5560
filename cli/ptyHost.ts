#!/usr/bin/env node
/**
 * The PTY host's entry module. Started detached by the daemon with the socket and the limits as its arguments; with a pipe
 * on descriptor 3 it says there, in one line, that it listens.
 */
import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { startPtyHost } from '../pty/host/process.ts';
import { renderedScreens } from '../pty/host/renderedScreens.ts';
import { createScreens } from '../pty/screen/screens.ts';
import { version } from './version.ts';

const { values } = parseArgs({ options: { socket: { type: 'string' }, limits: { type: 'string', default: '{}' } } });

const limits = z.object({
  inputMaxBytes: z
    .int()
    .positive()
    .default(4 * 1024 * 1024),
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

async function main(): Promise<void> {
  process.umask(0o077);
  if (values.socket === undefined) throw new Error('--socket is missing');
  const host = await startPtyHost({
    socketPath: values.socket,
    version,
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
