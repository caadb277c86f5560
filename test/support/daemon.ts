/** A real daemon on a state directory of its own, driven over its socket. What it launched ends with the test. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import type { CallArguments, CallName } from '../../actors/daemon/api/contract.ts';
import type { CallResults } from '../../actors/daemon/api/results.ts';
import type { ApiError, EventView, Reply, WorktreeView } from '../../actors/daemon/api/views.ts';
import { calendarClock } from '../../actors/daemon/calendarClock.ts';
import { operatorCredential } from '../../actors/runtime/credentials.ts';
import { placesOf, readRendezvous } from '../../actors/runtime/places.ts';
import { unrecordedRoot } from '../../actors/runtime/unrecorded.ts';
import { Client } from '../../cli/client.ts';
import { openStore } from '../../persistence/store.ts';
import type { VerifiedContract } from '../../persistence/tables/contracts.ts';
import { type DaemonHome, daemonHome, type HomeOptions } from './daemonHome.ts';
import { endLeftovers, homeVariable } from './daemonLeftovers.ts';
import {
  cliProgram,
  type DaemonProcess,
  daemonProgram,
  type Ended,
  Refused,
  startDaemonProcess,
} from './daemonProcess.ts';
import { patienceMs } from './patience.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** hostContract.ts */
    hostContract: VerifiedContract;
  }
}

type Loose<T> = T extends object ? { -readonly [Key in keyof T]: T[Key] } : T;
export type ExecOptions = Partial<CallArguments<'runs.exec'>>;

export interface EventFilter {
  readonly actor?: string;
  readonly type?: string;
  readonly since?: number;
}

export class TestDaemon {
  readonly home: DaemonHome;
  /** What stands in front of every program of this installation (nsenter, setpriv, sh). */
  readonly prefix: readonly string[];
  /** Where this process finds the daemon's file system, if it has one of its own. */
  readonly root: string;
  #process: DaemonProcess | undefined;

  constructor(home: DaemonHome, { prefix = [], root = '' }: { prefix?: readonly string[]; root?: string } = {}) {
    this.home = home;
    this.prefix = prefix;
    this.root = root;
  }

  get process(): DaemonProcess {
    if (this.#process === undefined) throw new Error('the daemon was not started');
    return this.#process;
  }

  get pid(): number {
    return this.process.pid;
  }

  /** Starts the daemon that ships, or another program; the first time it also makes the store. */
  async start(program: readonly string[] = [process.execPath, daemonProgram]): Promise<this> {
    const { stateDir, env } = this.home;
    if (!existsSync(this.inside(join(stateDir, 'custody.db')))) this.#initialise();
    this.#process = await startDaemonProcess({ stateDir, env, command: [...this.prefix, ...program] });
    return this;
  }

  /** A daemon that finds no contract makes the containment check itself, while it serves. */
  #initialise(): void {
    const { stateDir, env } = this.home;
    const [file, ...args] = [...this.prefix, process.execPath, cliProgram, 'init', '--state-dir', stateDir];
    if (this.prefix.length === 0) makeStore(this.home);
    else execFileSync(file!, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  }

  /** Resolves when the process is gone. SIGTERM ends the daemon alone; so does SIGKILL, without asking. */
  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<Ended> {
    this.process.child.kill(signal);
    return this.process.exited;
  }

  async restart(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<this> {
    await this.kill(signal);
    return this.start();
  }

  async dispose(): Promise<void> {
    if (this.#process !== undefined) await this.kill();
    if (existsSync(this.home.stateDir)) rmSync(unrecordedRoot(this.home), { recursive: true, force: true });
    await endLeftovers({ dir: this.home.dir, stateDir: this.inside(this.home.stateDir) });
    rmSync(this.home.dir, { recursive: true, force: true });
  }

  /** A path of the daemon, as this process has to spell it. */
  inside(path: string): string {
    return this.root + path;
  }

  /** What shows that the operator asks. */
  get credential(): string {
    const key = readFileSync(this.inside(join(this.home.stateDir, 'operator.key')), 'utf8').trim();
    return operatorCredential(key);
  }

  get client(): Client {
    const rendezvous = readRendezvous(placesOf({ stateDir: this.inside(this.home.stateDir), env: {} }));
    const daemon = { socket: this.inside(rendezvous?.socket ?? '/nobody'), pid: rendezvous?.pid ?? 0 };
    return new Client(daemon, () => this.credential);
  }

  /** The reply, whatever it is. Throws when the connection breaks. */
  attempt<Name extends CallName>(name: Name, args: CallArguments<Name>): Promise<Reply<CallResults[Name]>> {
    return this.client.call<CallResults[Name]>(name, args as { requestId?: string });
  }

  async call<Name extends CallName>(name: Name, args: CallArguments<Name>): Promise<Loose<CallResults[Name]>> {
    const reply = await this.attempt(name, args);
    if (!reply.ok) throw new Refused(reply.error);
    return reply.data as Loose<CallResults[Name]>;
  }

  /** The error of a call that has to be refused. */
  async refusal<Name extends CallName>(name: Name, args: CallArguments<Name>): Promise<ApiError> {
    const reply = await this.attempt(name, args);
    if (reply.ok) throw new Error(`${name} was not refused: ${JSON.stringify(reply.data)}`);
    return reply.error;
  }

  /** A queued Goal with an open worktree. */
  async goal({ requestId = randomUUID() as string } = {}): Promise<{ goalId: string } & WorktreeView> {
    const added = { title: 'a goal', repo: this.home.repo, request: 'do something\n', queue: true, requestId };
    const { goalId } = await this.call('goals.add', added);
    return { ...(await this.call('worktrees.add', { goalId, requestId: `${requestId}-w` })), goalId };
  }

  launchArguments(goalId: string, script: string, options: ExecOptions = {}): CallArguments<'runs.exec'> {
    const env = { PATH: process.env.PATH ?? '', [homeVariable]: this.home.dir, ...options.env };
    return { goalId, argv: ['sh', '-c', script], ...options, env };
  }

  exec(goalId: string, script: string, options: ExecOptions = {}) {
    return this.call('runs.exec', this.launchArguments(goalId, script, options));
  }

  ended(runId: string) {
    return this.call('runs.wait', { id: runId, until: 'ended', waitMs: patienceMs });
  }

  proved(runId: string) {
    return this.call('runs.wait', { id: runId, until: 'proved', waitMs: patienceMs });
  }

  scopeDir(scopeId: string | null): string {
    return this.inside(join(this.home.stateDir, 'scopes', scopeId!));
  }

  /** The scope as `processes` shows it. */
  async scope(scopeId: string | null) {
    const { scopes } = await this.call('processes', { released: true });
    return scopes.find((scope) => scope.scopeId === scopeId)!;
  }

  async events({ since = 0, ...filter }: EventFilter = {}): Promise<EventView[]> {
    const found: EventView[] = [];
    for (let after = since; ; ) {
      const { events, nextPosition } = await this.call('events', { ...filter, since: after, limit: 1_000 });
      found.push(...events);
      if (events.length === 0) return found;
      after = nextPosition;
    }
  }

  /** The first event that matches, from the journal's stream: it may be there already. */
  async event(filter: EventFilter, matches: (event: EventView) => boolean = () => true): Promise<EventView> {
    for await (const event of this.client.stream<EventView>('events.follow', filter)) if (matches(event)) return event;
    throw new Error(`the stream ended without ${JSON.stringify(filter)}`);
  }
}

/** A store that nobody has used yet, on a host that was looked at (hostContract.ts). */
function makeStore({ stateDir, contract }: DaemonHome): void {
  const store = openStore({ stateDir, clock: calendarClock, create: true });
  if (contract === 'verified') store.write(() => store.contracts.put(inject('hostContract')));
  store.close();
}

/** Not started yet; disposed of when the test is over. */
export function testDaemon(options: HomeOptions = {}): TestDaemon {
  const daemon = new TestDaemon(daemonHome(options));
  onTestFinished(() => daemon.dispose());
  return daemon;
}
