/**
 * Keeps a daemon findable. Whoever cleans up runtime directories (logind at the last logout, tmpfiles) may take its
 * socket or its rendezvous away; nobody could reach it then, and no successor could start while it holds the store.
 */
import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatingError } from '../../runtime/operatingError.ts';
import { directoryOf, type Places, type Rendezvous, socketDirectory } from '../../runtime/places.ts';
import { type ApiServer, listenAt } from './server.ts';

export interface ReachabilityOptions {
  readonly server: ApiServer;
  readonly places: Places;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly installationId: string;
  readonly daemon: Pick<Rendezvous, 'pid' | 'version' | 'startNumber'>;
  /** What was renewed, or why it could not be. */
  readonly tell: (event: { readonly renewed?: string; readonly error?: unknown }) => void;
}

export interface Reachability {
  /** Where it listens now; another place once the first one was taken away for good. */
  readonly socket: string;
  /** Resolves when nothing is renewed any more. */
  stop(): Promise<void>;
}

const lookAgainAfterMs = 2_000;

/** Listens and announces, and does so anew whenever one of the two is gone. */
export async function becomeReachable(options: ReachabilityOptions): Promise<Reachability> {
  const { places, tell } = options;
  const stateDirectory = directoryOf(places);
  let at = await listen(options, addressOf(options));
  let announced = announce(options, at.socket);

  async function renew(): Promise<void> {
    // A state directory that was removed or replaced is not made again: its installation is gone.
    if (attempt(() => directoryOf(places)) !== stateDirectory) return;
    if (attempt(() => identityOf(at.socket)) !== at.identity) {
      at = await listen(options, renewedAddressOf(options, at.socket));
      announced = announce(options, at.socket);
      tell({ renewed: at.socket });
    } else if (attempt(() => readFileSync(places.rendezvousFile, 'utf8')) !== announced) {
      announced = announce(options, at.socket);
      tell({ renewed: places.rendezvousFile });
    }
  }

  let renewing: Promise<void> | undefined;
  const timer = setInterval(() => {
    renewing ??= renew()
      .catch((error) => tell({ error }))
      .finally(() => {
        renewing = undefined;
      });
  }, lookAgainAfterMs).unref();
  return {
    get socket() {
      return at.socket;
    },
    async stop() {
      clearInterval(timer);
      await renewing;
    },
  };
}

/** Asked for every time: a runtime directory can vanish while the daemon runs. */
function addressOf({ places, env, installationId }: ReachabilityOptions): string {
  const directory = socketDirectory(places, env);
  return directory === places.runDir ? privateAddressOf(places) : join(directory, `${installationId}.sock`);
}

const privateAddressOf = ({ runDir }: Places): string => join(runDir, 'api.sock');

/**
 * A socket of somebody else under our shared name is that of the daemon of a copied state directory. The two would take
 * the name from each other for ever, so this one withdraws to a name that nobody else uses. Closing its old socket takes
 * that name away once more (libuv unlinks what it has bound), and the other daemon makes it anew.
 */
function renewedAddressOf(options: ReachabilityOptions, former: string): string {
  const isTaken = attempt(() => identityOf(former)) !== undefined;
  return isTaken ? privateAddressOf(options.places) : addressOf(options);
}

async function listen({ server, places }: ReachabilityOptions, socket: string) {
  // Not recursive: it would bring a removed state directory back.
  attempt(() => mkdirSync(places.runDir, { mode: 0o700 }));
  await listenAt(server, socket);
  return { socket, identity: identityOf(socket) };
}

/** Whoever looks for the daemon finds it here; replaced in one step, so that nobody reads half of it. */
function announce({ places, daemon }: ReachabilityOptions, socket: string): string {
  const rendezvous: Rendezvous = {
    protocol: 1,
    ...daemon,
    socket,
    stateDir: places.stateDir,
    directory: directoryOf(places),
  };
  const text = `${JSON.stringify(rendezvous)}\n`;
  attempt(() => mkdirSync(places.runDir, { mode: 0o700 }));
  try {
    writeFileSync(`${places.rendezvousFile}.new`, text, { mode: 0o600 });
    renameSync(`${places.rendezvousFile}.new`, places.rendezvousFile);
  } catch (cause) {
    throw obstacle(cause as NodeJS.ErrnoException) ?? cause;
  }
  return text;
}

/** Undefined for what is no matter of names, such as a full disk. */
function obstacle(cause: NodeJS.ErrnoException & { readonly dest?: string }): OperatingError | undefined {
  if (cause.code !== 'EISDIR' && cause.code !== 'ENOTDIR') return undefined;
  const path = cause.dest ?? cause.path;
  return new OperatingError(
    {
      code: 'run_directory_unusable',
      message: `${JSON.stringify(path)} is in the way: nobody would find the daemon (${cause.code})`,
      exitCode: 9,
      next: [`move ${JSON.stringify(path)} away`],
    },
    cause,
  );
}

/** Throws when there is nothing. A file system may give the number of a removed file to the next one at once. */
function identityOf(path: string): string {
  const { dev, ino, birthtimeNs } = lstatSync(path, { bigint: true });
  return `${dev}:${ino}:${birthtimeNs}`;
}

function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
