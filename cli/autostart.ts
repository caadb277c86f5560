/**
 * Finding a serving daemon, and starting one (ruling 22). The child gets its own session, no terminal and none of the
 * caller's descriptors, so that neither a hang-up nor a closing pipe of the shell reaches it.
 */
import { spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ApiError } from '../actors/daemon/api/views.ts';
import { OperatingError } from '../actors/runtime/operatingError.ts';
import { type Places, type Rendezvous, readRendezvous } from '../actors/runtime/places.ts';
import { Client, DaemonAbsent, type Hello } from './client.ts';
import { credentialOf } from './credential.ts';
import { daemonUnreachable, fromApi } from './failure.ts';
import { jsonLines } from './jsonLines.ts';
import { daemonEnvironment } from './launchEnvironment.ts';
import { requireOwn } from './ownership.ts';

export const daemonProgram = (): string => fileURLToPath(new URL('./daemon.js', import.meta.url));

export interface Serving {
  readonly client: Client;
  readonly rendezvous: Rendezvous;
  readonly hello: Hello;
}

/** The daemon that answers for this state directory, or undefined. A rendezvous file alone says nothing. */
export async function findServing(places: Places): Promise<Serving | undefined> {
  const rendezvous = readRendezvous(places);
  if (!rendezvous) return undefined;
  requireOwn(places.stateDir);
  const client = new Client(rendezvous, () => credentialOf(places));
  try {
    return { client, rendezvous, hello: await client.hello() };
  } catch (cause) {
    if (cause instanceof DaemonAbsent || (cause as OperatingError).code === 'daemon_gone') return undefined;
    throw cause;
  }
}

/** Without a bound a store that somebody else keeps locked would be waited for without a word. */
const startWithinMs = 30_000;
/** Every attempt starts a process, so they become rarer: a winner listens at once, a daemon that lost its socket later. */
const retryAfterMs = { first: 50, last: 1_000 } as const;

/**
 * Makes sure that a daemon serves. Of several that start at once one wins the store; the others end with
 * `runtime_busy`, and their callers go on with the winner as soon as it listens.
 */
export async function ensureServing(places: Places): Promise<Serving & { readonly started: boolean }> {
  const deadline = performance.now() + startWithinMs;
  for (let pauseMs: number = retryAfterMs.first; ; pauseMs = Math.min(2 * pauseMs, retryAfterMs.last)) {
    const serving = await findServing(places);
    if (serving) return { ...serving, started: false };
    const refusal = await spawnDaemon(places);
    if (refusal === undefined) {
      const started = await findServing(places);
      if (started) return { ...started, started: true };
    } else if (refusal.code !== 'runtime_busy') {
      throw fromApi(refusal);
    } else if (performance.now() > deadline) {
      throw daemonUnreachable(places.stateDir, readRendezvous(places)?.pid ?? null);
    }
    if (performance.now() > deadline) throw startFailed(places, 'nothing answered at the address that it announced');
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** The daemon that the service manager was told to start. Throws `daemon_start_failed` when it does not come to serve. */
export async function startedByService(places: Places): Promise<Serving> {
  const deadline = performance.now() + startWithinMs;
  for (;;) {
    const serving = await findServing(places);
    if (serving) return serving;
    if (performance.now() > deadline) throw startFailed(places, 'the service manager was told to, and nothing answers');
    await new Promise((resolve) => setTimeout(resolve, retryAfterMs.first));
  }
}

/** Undefined once the child serves, else the reason why it does not. */
async function spawnDaemon(places: Places): Promise<ApiError | undefined> {
  const log = openLog(places);
  const child = spawn(process.execPath, [daemonProgram(), '--state-dir', places.stateDir], {
    detached: true,
    cwd: '/',
    env: daemonEnvironment(process.env),
    stdio: ['ignore', log, log, 'pipe'],
  });
  if (log !== 'ignore') closeSync(log);
  const ready = child.stdio[3] as Readable;
  const giveUp = setTimeout(() => ready.destroy(), startWithinMs);
  try {
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    for await (const answer of jsonLines(ready)) {
      const line = answer as { readonly ok: boolean; readonly error?: ApiError };
      return line.ok ? undefined : (line.error as ApiError);
    }
  } catch (cause) {
    throw startFailed(places, (cause as Error).message);
  } finally {
    clearTimeout(giveUp);
    ready.destroy();
    child.unref();
  }
  throw startFailed(places, 'it ended before it was ready');
}

/** Why a daemon does not serve, from its pipe; undefined when it serves, or has ended without a word. */
export async function refusalFrom(ready: Readable): Promise<ApiError | undefined> {
  try {
    for await (const answer of jsonLines(ready)) return (answer as { readonly error?: ApiError }).error;
  } catch {
    // What it had to say went to its standard error.
  } finally {
    ready.destroy();
  }
  return undefined;
}

/** Where nothing can be logged the daemon itself says by name what is wrong with the place. */
function openLog(places: Places): number | 'ignore' {
  requireOwn(places.stateDir);
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  try {
    mkdirSync(places.logDir, { recursive: true, mode: 0o700 });
    return openSync(startLog(places), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  } catch {
    return 'ignore';
  }
}

/** Holds what the program says before its own log is open, such as a module that cannot be loaded. */
const startLog = (places: Places): string => join(places.logDir, 'daemon-start.log');

const startFailed = (places: Places, why: string): OperatingError =>
  new OperatingError({
    code: 'daemon_start_failed',
    message: `the daemon did not start: ${why}`,
    exitCode: 10,
    retryable: true,
    next: [`read ${startLog(places)}`, 'custody daemon start --foreground', 'custody doctor'],
  });
