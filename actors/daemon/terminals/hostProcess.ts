/**
 * Finds the PTY host of this installation, or starts it (ruling 20). Whoever listens at its socket is it: the socket lies
 * in the private directory. One that does not answer is looked at by its recorded identity, because its silence says
 * nothing about its terminals (ruling 9), and only a host that is gone is replaced.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { type ProcessIdentity, processIdentitySchema } from '../../../machines/identity.ts';
import { enterGroup } from '../../../pty/launch/group.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { Runtime } from '../../runtime/runtime.ts';

type Parts = Pick<Runtime, 'places' | 'adapter' | 'log' | 'ptyHost' | 'store' | 'workGroup'>;

const recordOf = ({ places }: Parts): string => join(places.runDir, 'pty-host.json');

/** `living` whenever it is not proved to be gone. */
export type HostPresence = 'living' | 'gone' | 'never recorded';

/**
 * The identity that was recorded when a daemon first met the host, looked at now: whoever has its pid by now, or has it
 * since another boot, is somebody else (ID-03).
 */
export function presenceOf(parts: Parts): HostPresence {
  const identity = recordedIdentity(parts);
  if (identity === undefined) return 'never recorded';
  return parts.adapter.observe(identity).result === 'ended' ? 'gone' : 'living';
}

/** What another installation has recorded is as good as nothing: it never met the host of this one. */
export function recordedIdentity(parts: Parts): ProcessIdentity | undefined {
  try {
    const identity = processIdentitySchema.parse(JSON.parse(readFileSync(recordOf(parts), 'utf8')));
    return identity.installationId === parts.store.installationId ? identity : undefined;
  } catch {
    return undefined;
  }
}

/** What to do about a host that lives, or may, and does not answer. */
export function waysOut(parts: Parts): readonly string[] {
  const pid = recordedIdentity(parts)?.pid;
  const path = JSON.stringify(recordOf(parts));
  return pid === undefined
    ? ['custody doctor']
    : ['custody doctor', `if process ${pid} is not ${JSON.stringify(parts.ptyHost.program)}, move ${path} away`];
}

/** Throws CaptureError when the process is gone, and `pty_host_failed` when a directory is in the way of the record. */
export function recordHost(parts: Parts, pid: number): void {
  const path = recordOf(parts);
  const identity = JSON.stringify(parts.adapter.capture(pid));
  unlessInTheWay(path, () => {
    writeFileSync(`${path}.new`, identity, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  });
}

/** Only whoever put a directory there knows what it is good for. */
function unlessInTheWay(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EISDIR' && code !== 'ERR_FS_EISDIR') throw error;
    throw failed(`${path} is a directory`, [`move ${JSON.stringify(path)} away`]);
  }
}

/** Starts a host and resolves with its pid when it listens. Throws `pty_host_failed`. */
export async function startHost(parts: Parts): Promise<number> {
  const { program, limits, startMs } = parts.ptyHost;
  const socket = parts.places.ptyHostSocket;
  unlessInTheWay(socket, () => rmSync(socket, { force: true }));
  const log = openLog(parts);
  try {
    const args = [
      program,
      '--socket',
      socket,
      '--state-dir',
      parts.places.stateDir,
      '--limits',
      JSON.stringify(limits),
    ];
    // Its terminals must not be hung up with the daemon's, and it must not hold the daemon's directory.
    const end = new AbortController();
    const child = spawn(process.execPath, args, {
      signal: end.signal,
      killSignal: 'SIGKILL',
      cwd: '/',
      detached: true,
      env: hostEnvironment(),
      stdio: ['ignore', log, log, 'pipe'],
    });
    child.on('error', () => {}); // told by the end of the pipe
    const { directory } = parts.workGroup;
    // Nobody can have asked it for a terminal yet.
    if (directory !== undefined && child.pid !== undefined) enterGroup(directory, child.pid);
    const timer = setTimeout(() => end.abort(), startMs);
    const said = await firstLine(child.stdio[3] as Readable).finally(() => clearTimeout(timer));
    child.unref();
    if (said?.ok === true) return said.pid;
    if (said !== undefined) throw failed(said.message);
    throw failed(end.signal.aborted ? `it did not listen within ${startMs} ms` : 'it ended before it listened');
  } finally {
    closeSync(log);
  }
}

function openLog({ places }: Parts): number {
  mkdirSync(places.logDir, { recursive: true, mode: 0o700 });
  return openSync(join(places.logDir, 'pty-host.log'), 'a', 0o600);
}

/** Nothing of the daemon's: each session is told its environment. */
function hostEnvironment(): Record<string, string> {
  const { PATH = '/usr/bin:/bin', LANG, LC_ALL } = process.env;
  return { PATH, ...(LANG ? { LANG } : {}), ...(LC_ALL ? { LC_ALL } : {}) };
}

type Said = { readonly ok: true; readonly pid: number } | { readonly ok: false; readonly message: string };

async function firstLine(pipe: Readable): Promise<Said | undefined> {
  pipe.on('error', () => {});
  const lines = createInterface({ input: pipe });
  for await (const line of lines) {
    pipe.destroy();
    return JSON.parse(line) as Said;
  }
  return undefined;
}

const failed = (why: string, next: readonly string[] = ['custody doctor']): OperatingError =>
  new OperatingError({
    code: 'pty_host_failed',
    message: `the process that holds terminals could not be started: ${why}`,
    exitCode: 10,
    retryable: true,
    next,
  });
