/** A real PTY host in a process of its own, and connections to it as the daemon and as a viewer have them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { operatorCredential, operatorKey } from '../../../actors/runtime/credentials.ts';
import { controlClient } from '../../../pty/launch/control.ts';
import type { LaunchReady } from '../../../pty/launch/launch.ts';
import { reserveSlots } from '../../../pty/launch/slots.ts';
import { type Ask, HostClient } from '../../../pty/wire/hostClient.ts';
import type { CaptureEnd, HostEvent, SessionReport } from '../../../pty/wire/messages.ts';
import { guardian } from '../../guardian/support/programs.ts';
import { readReceipt, workDirectory } from '../../guardian/support/scope.ts';

const program = fileURLToPath(new URL('../../../dist/ptyHost.js', import.meta.url));

type EventOf<Name extends HostEvent['event']> = Extract<HostEvent, { event: Name }>;

/** One connection, its events in the order in which they came, its output in one buffer. */
export class Peer {
  client!: HostClient;
  readonly events: HostEvent[] = [];
  readonly chunks: Buffer[] = [];
  isEnded = false;
  #waiters: (() => void)[] = [];

  static async connect(address: string, role: 'daemon' | 'client', credential?: string): Promise<Peer> {
    const peer = new Peer();
    const { client } = await HostClient.connect({
      address,
      role,
      credential,
      event: (event) => peer.#note(() => peer.events.push(event)),
      output: (_offset, bytes) => peer.#note(() => peer.chunks.push(Buffer.from(bytes))),
      ended: () =>
        peer.#note(() => {
          peer.isEnded = true;
        }),
    });
    peer.client = client;
    return peer;
  }

  #note(change: () => void): void {
    change();
    for (const waiter of this.#waiters.splice(0)) waiter();
  }

  get output(): Buffer {
    return Buffer.concat(this.chunks);
  }

  ask<T = Record<string, unknown>>(request: Ask, withinMs = 30_000): Promise<T> {
    return this.client.ask(request, withinMs) as Promise<T>;
  }

  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) {
      if (this.isEnded) throw new Error(`the host went away: ${JSON.stringify(this.events.slice(-3))}`);
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** The next event of a kind, past ones included. */
  async event<Name extends HostEvent['event']>(name: Name, sessionId?: string): Promise<EventOf<Name>> {
    const find = () =>
      this.events.find((event) => event.event === name && (sessionId === undefined || event.sessionId === sessionId));
    await this.until(() => find() !== undefined);
    return find() as EventOf<Name>;
  }

  async shows(text: string): Promise<void> {
    await this.until(() => this.output.includes(text));
  }
}

export interface OpenOptions {
  readonly cols?: number;
  readonly rows?: number;
  readonly maxBytes?: number | null;
  readonly env?: Readonly<Record<string, string>>;
  readonly release?: boolean;
  /** What is started in its place, and starts it in turn. */
  readonly guardianPath?: string;
  readonly handshakeMs?: number;
}

export interface OpenSession {
  readonly id: string;
  readonly scopeDir: string;
  readonly transcriptDir: string;
  readonly ready: LaunchReady;
  /** What the segments hold, in order. */
  transcript(): Buffer;
}

export class TestHost {
  readonly directory: string;
  readonly child: ChildProcess;
  readonly socket: string;
  /** Of the operator of this host. */
  readonly key: string;
  readonly #uid: number | undefined;
  #count = 0;

  constructor(directory: string, child: ChildProcess, uid: number | undefined) {
    this.#uid = uid;
    this.directory = directory;
    this.child = child;
    this.socket = join(directory, 'run', 'pty.sock');
    this.key = readFileSync(join(directory, 'operator.key'), 'utf8').trim();
  }

  daemon(): Promise<Peer> {
    return this.#peer('daemon');
  }

  viewer(): Promise<Peer> {
    return this.#peer('client');
  }

  async #peer(role: 'daemon' | 'client'): Promise<Peer> {
    const peer = await Peer.connect(this.socket, role, operatorCredential(this.key));
    onTestFinished(() => peer.client.close());
    return peer;
  }

  /** Launches `argv` in a terminal of its own. */
  async open(daemon: Peer, argv: readonly string[], options: OpenOptions = {}): Promise<OpenSession> {
    const { cols = 80, rows = 24, maxBytes = null, env = {}, release = true } = options;
    const { guardianPath = guardian(), handshakeMs = 20_000 } = options;
    const number = ++this.#count;
    const id = `P${number}`;
    const scopeDir = join(this.directory, `scope-${number}`);
    const transcriptDir = join(this.directory, 'transcripts', id);
    const launch = {
      guardianPath,
      scopeId: `S${number}`,
      scopeDir,
      installationId: 'I0123456789',
      slots: await reserveSlots(scopeDir),
      argv: [...argv],
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin', TERM: 'xterm-256color', ...env },
      cwd: this.directory,
      umask: 0o022,
      handshakeMs,
    };
    onTestFinished(() => endQuietly(scopeDir));
    this.#giveAway(scopeDir);
    const transcript = { dir: transcriptDir, maxBytes };
    const request = { do: 'open', sessionId: id, cols, rows, launch, transcript, term: 'xterm-256color' } as const;
    const ready = await daemon.ask<LaunchReady>(request);
    if (release) await daemon.ask({ do: 'release', sessionId: id });
    return { id, scopeDir, transcriptDir, ready, transcript: () => storedIn(transcriptDir) };
  }

  #giveAway(directory: string): void {
    if (this.#uid === undefined) return;
    for (const path of [directory, ...readdirSync(directory).map((name) => join(directory, name))]) {
      chownSync(path, this.#uid, this.#uid);
    }
  }

  async run(
    daemon: Peer,
    argv: readonly string[],
    options?: OpenOptions,
  ): Promise<OpenSession & { readonly end: CaptureEnd }> {
    const session = await this.open(daemon, argv, options);
    const { end } = await daemon.event('captureEnded', session.id);
    return { ...session, end };
  }

  async report(peer: Peer, sessionId: string): Promise<SessionReport> {
    const { sessions } = await peer.ask<{ sessions: SessionReport[] }>({ do: 'list' });
    return sessions.find((session) => session.sessionId === sessionId)!;
  }
}

export const storedIn = (transcriptDir: string): Buffer => readFileSync(join(transcriptDir, 'raw.000001'));

export { readReceipt };

export interface HostOptions {
  readonly limits?: Readonly<Record<string, number>>;
  /** What stands in front of it (prlimit, sh). */
  readonly prefix?: readonly string[];
  /** Whose process it is, if not ours. */
  readonly uid?: number;
}

export async function ptyHost({ limits = {}, prefix = [], uid }: HostOptions = {}): Promise<TestHost> {
  const directory = workDirectory();
  mkdirSync(join(directory, 'run'), { mode: 0o700 });
  mkdirSync(join(directory, 'transcripts'), { mode: 0o700 });
  operatorKey({ stateDir: directory });
  if (uid !== undefined)
    for (const name of ['', 'run', 'transcripts', 'operator.key']) chownSync(join(directory, name), uid, uid);
  const socket = join(directory, 'run', 'pty.sock');
  const arguments_ = [
    process.execPath,
    program,
    '--socket',
    socket,
    '--state-dir',
    directory,
    '--limits',
    JSON.stringify(limits),
  ];
  const [file, ...args] = [...prefix, ...arguments_];
  const child = spawn(file!, args, { cwd: '/', detached: true, stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdio[3] as Readable });
  const [line] = await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => ['{"ok":false}'])]);
  if (!(JSON.parse(line as string) as { ok: boolean }).ok) throw new Error(`the host did not start: ${line}`);
  return new TestHost(directory, child, uid);
}

async function endQuietly(scopeDir: string): Promise<void> {
  const client = await controlClient(scopeDir, { timeoutMs: 500 }).catch(() => undefined);
  if (client === undefined) return;
  try {
    for await (const _event of client.terminate({ graceMs: 0, budgetMs: 3000 }));
  } catch {
    // The test has its own word about a guardian that does not answer.
  } finally {
    client.close();
  }
}
