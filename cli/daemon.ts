#!/usr/bin/env node
/**
 * The daemon's entry module: the one place where it meets the platform (ID-04), its log and the process it lives in. With
 * a pipe on descriptor 3 it says there, in one line, whether it serves.
 */
import { chmodSync, existsSync, fstatSync, mkdirSync, renameSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pino, { type Logger } from 'pino';
import { loadConfig } from '../actors/daemon/config.ts';
import type { InspectorPort } from '../actors/daemon/inspector/port.ts';
import { startDaemon } from '../actors/daemon/start.ts';
import { createSystemClock } from '../actors/observe/linux/clock.ts';
import { probeExistence } from '../actors/observe/linux/probe.ts';
import { selectAdapter } from '../actors/observe/select.ts';
import { toApiError } from '../actors/runtime/operatingError.ts';
import { placesOf } from '../actors/runtime/places.ts';
import { explainInDaemon } from '../inspect/explain/daemonExplainer.ts';
import { tracingIn } from '../inspect/traces/daemonTracing.ts';
import { version } from './version.ts';

const { values: options } = parseArgs({
  options: {
    'state-dir': { type: 'string' },
    foreground: { type: 'boolean', default: false },
    /** The unit that its service manager knows this process by. */
    service: { type: 'string' },
  },
});
const places = placesOf({ stateDir: options['state-dir'], env: process.env });

const readyPipe = 3;

/** False when nobody waits for the answer. */
function say(line: Record<string, unknown>): boolean {
  try {
    if (!fstatSync(readyPipe).isFIFO() && !fstatSync(readyPipe).isSocket()) return false;
    writeSync(readyPipe, `${JSON.stringify(line)}\n`);
    return true;
  } catch {
    return false;
  }
}

const onStandardError = (): Logger => pino({ base: null }, pino.destination({ dest: 2, sync: true }));

/** Where nothing can be logged the store is refused as well, and says by name what is wrong with the place. */
function openLog(): Logger {
  if (options.foreground) return onStandardError();
  const { logMaxBytes } = loadConfig(places, process.env).config;
  try {
    const destination = pino.destination({ dest: logFile(logMaxBytes), mode: 0o600, sync: true });
    // A line that finds no room on the disk is lost; the daemon is not.
    destination.on('error', () => {});
    return pino({ base: null }, destination);
  } catch {
    return onStandardError();
  }
}

/** One older log is kept; a daemon that starts with a large one begins a new one. */
function logFile(maxBytes: number): string {
  mkdirSync(places.logDir, { recursive: true, mode: 0o700 });
  chmodSync(places.logDir, 0o700);
  const path = join(places.logDir, 'daemon.log');
  if (existsSync(path) && statSync(path).size > maxBytes) renameSync(path, `${path}.1`);
  return path;
}

/** Loaded by the first who wants to look: a daemon that nobody inspects starts without it. */
const inspector: InspectorPort = {
  async listen(daemon, place) {
    const { createInspector } = await import('../inspect/server/inspector.ts');
    const assets = new URL('./inspect/', import.meta.url);
    const thread = new URL('./inspectThread.js', import.meta.url);
    return createInspector({ assets, thread }).listen(daemon, place);
  },
};

async function main(): Promise<void> {
  process.umask(0o077);
  // Started from inside a scope, a daemon would otherwise launch everything as a part of it.
  delete process.env.CUSTODY_GUARDIAN_UP;
  const log = openLog();
  const daemon = await startDaemon({
    places,
    env: process.env,
    clock: createSystemClock(),
    log,
    version,
    service: options.service,
    ptyHostProgram: fileURLToPath(new URL('./ptyHost.js', import.meta.url)),
    workerProgram: fileURLToPath(new URL('./worker.js', import.meta.url)),
    schemaWorker: fileURLToPath(new URL('./schemaWorker.js', import.meta.url)),
    inspector,
    explainer: explainInDaemon,
    tracing: tracingIn(process.env),
    adapterFor: (installationId) =>
      selectAdapter(process.platform, { installationId: installationId as never, probe: probeExistence }),
  });
  const told = new Promise<{ readonly why: string; readonly status: number }>((resolve) => {
    // Neither ends any work: both mean that this process is to be replaced (ruling 21).
    for (const why of ['SIGTERM', 'SIGINT'] as const) process.once(why, () => resolve({ why, status: 0 }));
    void daemon.left.then((status) => resolve({ why: 'stop', status }));
  });
  process.on('SIGHUP', () => {});
  // Only now: whoever hears it may signal at once.
  say({ ok: true, pid: process.pid });
  log.info({ pid: process.pid }, 'serving');
  const { why, status } = await told;
  log.info({ why }, 'leaving');
  await daemon.close();
  process.exit(status);
}

main().catch((error: unknown) => {
  const failure = toApiError(error);
  const isHeard = say({ ok: false, error: failure });
  if ((options.foreground && !isHeard) || failure.code === 'internal_error')
    process.stderr.write(
      `custody: ${failure.message}\n${failure.code === 'internal_error' ? String((error as Error)?.stack) : ''}\n`,
    );
  process.exit(failure.exitCode);
});
