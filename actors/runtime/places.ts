/**
 * Where things live (ruling 29). One installation is one private state directory; everything else is found from it,
 * so that a shell with other XDG variables still meets the same daemon.
 */
import { closeSync, constants, lstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { OperatingError } from './operatingError.ts';

export interface Places {
  readonly stateDir: string;
  readonly configFile: string;
  readonly runDir: string;
  readonly logDir: string;
  readonly scopesDir: string;
  readonly worktreesDir: string;
  /** Worktrees that were put aside; nothing in it is ever removed by us. */
  readonly quarantineDir: string;
  readonly requestsDir: string;
  /** Tickets for executors, one private directory each, with the receipts (WT-07). */
  readonly ticketsDir: string;
  /** Worktrees that executors have put aside, and archives. */
  readonly asideDir: string;
  /** What terminals said, one directory per session (PRIV-02). */
  readonly transcriptsDir: string;
  /** What launchers noted of work that they started by themselves, one directory per producer (INT-04). */
  readonly spoolDir: string;
  /** Where the process listens that holds the terminals. */
  readonly ptyHostSocket: string;
  /** Where the scheduling worker reaches its daemon. */
  readonly workerSocket: string;
  /** Written by a serving daemon, read by everybody who looks for it. */
  readonly rendezvousFile: string;
}

export interface Rendezvous {
  readonly protocol: 1;
  readonly pid: number;
  readonly socket: string;
  readonly version: string;
  readonly startNumber: number;
  /** Path, and device and inode, of the state directory that is served; one of them has to be right (see `isFor`). */
  readonly stateDir: string;
  readonly directory: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `--state-dir`, else `$CUSTODY_HOME`, else `$XDG_STATE_HOME/custody`, else `~/.local/state/custody`; always absolute. */
export function placesOf(options: { readonly stateDir?: string | undefined; readonly env: Environment }): Places {
  const { env } = options;
  const stateDir = resolve(
    options.stateDir || env.CUSTODY_HOME || join(env.XDG_STATE_HOME || join(homeOf(env), '.local', 'state'), 'custody'),
  );
  const runDir = join(stateDir, 'run');
  return {
    stateDir,
    configFile: join(env.XDG_CONFIG_HOME || join(homeOf(env), '.config'), 'custody', 'config.jsonc'),
    runDir,
    logDir: join(stateDir, 'log'),
    scopesDir: join(stateDir, 'scopes'),
    worktreesDir: join(stateDir, 'worktrees'),
    quarantineDir: join(stateDir, 'quarantine'),
    requestsDir: join(stateDir, 'requests'),
    ticketsDir: join(stateDir, 'tickets'),
    asideDir: join(stateDir, 'aside'),
    transcriptsDir: join(stateDir, 'transcripts'),
    spoolDir: join(stateDir, 'spool'),
    ptyHostSocket: join(runDir, 'pty.sock'),
    workerSocket: join(runDir, 'worker.sock'),
    rendezvousFile: join(runDir, 'daemon.json'),
  };
}

/** Asked for only where nothing more exact is set. Throws `no_home` (exit 2) for a user whom the system does not know. */
function homeOf(env: Environment): string {
  if (env.HOME) return env.HOME;
  try {
    return homedir();
  } catch {
    throw new OperatingError({
      code: 'no_home',
      message: 'this user has no home directory that the system knows of, and HOME is not set',
      exitCode: 2,
      next: ['set HOME, or both CUSTODY_HOME and XDG_CONFIG_HOME'],
    });
  }
}

/**
 * Directory for the API socket: `$XDG_RUNTIME_DIR/custody` when both are really private to this user, else the state
 * directory's own `run/`.
 */
export function socketDirectory(places: Places, env: Environment): string {
  const runtimeDir = env.XDG_RUNTIME_DIR;
  if (!runtimeDir || !isPrivate(runtimeDir)) return places.runDir;
  return refusedRuntimeDirectory(env) === undefined ? join(runtimeDir, 'custody') : places.runDir;
}

/** What stands in the place of `$XDG_RUNTIME_DIR/custody` and is not ours to use: a link, a file, another user's. */
export function refusedRuntimeDirectory(env: Environment): string | undefined {
  const directory = env.XDG_RUNTIME_DIR ? join(env.XDG_RUNTIME_DIR, 'custody') : undefined;
  if (directory === undefined || lstatOf(directory) === undefined) return undefined;
  return isOwn(directory) ? undefined : directory;
}

const lstatOf = (path: string) => lstatSync(path, { throwIfNoEntry: false });

/** A directory of this user, and no link to one: the link may lead elsewhere tomorrow. */
function isOwn(path: string): boolean {
  const found = lstatOf(path);
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}

function isPrivate(path: string): boolean {
  return isOwn(path) && ((lstatOf(path)?.mode ?? 0o777) & 0o077) === 0;
}

/** Device and inode of the state directory. Throws when it is not there. */
export function directoryOf({ stateDir }: Pick<Places, 'stateDir'>): string {
  const { dev, ino } = statSync(stateDir, { bigint: true });
  return `${dev}:${ino}`;
}

/** The daemon that last announced itself, or undefined. It may be dead: only a connection tells. */
export function readRendezvous(places: Places): Rendezvous | undefined {
  try {
    const parsed = JSON.parse(readFileSync(places.rendezvousFile, 'utf8')) as Rendezvous;
    return parsed.protocol === 1 && typeof parsed.socket === 'string' && isFor(parsed, places) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A copied state directory brings the file along, and the daemon that it names serves the original: commands for the
 * copy would reach the work of the other. The path is another one through a link or a mount, the inode may be one on a
 * file system that makes its numbers up.
 */
const isFor = ({ stateDir, directory }: Rendezvous, places: Places): boolean =>
  stateDir === places.stateDir || directory === directoryOf(places);

/** sun_path holds 108 bytes with its terminator (unix(7)); Node truncates longer paths silently. */
const longestSocketPath = 107;

/**
 * Runs `use` with an address that fits a UNIX socket, whatever the length of the real path: a longer one is reached
 * through an open descriptor of its directory (proc(5), /proc/self/fd).
 */
export async function withSocketAddress<T>(path: string, use: (address: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= longestSocketPath) return use(path);
  const directory = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await use(`/proc/self/fd/${directory}/${basename(path)}`);
  } finally {
    closeSync(directory);
  }
}
