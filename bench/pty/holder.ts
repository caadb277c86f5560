/** A PTY host of its own for a benchmark, and sessions in it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { operatorCredential, operatorKey } from '../../actors/runtime/credentials.ts';
import { reserveSlots } from '../../pty/launch/slots.ts';
import { HostClient } from '../../pty/wire/hostClient.ts';
import type { HostEvent } from '../../pty/wire/messages.ts';

const root = resolve(import.meta.dirname, '..', '..');
export const guardianPath = join(root, 'pty', 'guardian', 'build', 'custody-guardian');

export interface Watcher {
  readonly client: HostClient;
  /** Called for every piece of output; replace it. */
  output: (bytes: Buffer) => void;
  event: (event: HostEvent) => void;
}

export class Holder {
  readonly directory = mkdtempSync(join(tmpdir(), 'custody-bench-pty-'));
  readonly #child: ChildProcess;
  readonly #socket = join(this.directory, 'pty.sock');
  #daemon: Watcher | undefined;
  #count = 0;

  constructor() {
    mkdirSync(join(this.directory, 'transcripts'));
    const args = [join(root, 'dist', 'ptyHost.js'), '--socket', this.#socket, '--state-dir', this.directory];
    this.#child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  async ready(): Promise<void> {
    await once(createInterface({ input: this.#child.stdio[3] as Readable }), 'line');
    this.#daemon = await this.watcher('daemon');
  }

  async watcher(role: 'daemon' | 'client'): Promise<Watcher> {
    const watcher: { -readonly [Key in keyof Watcher]?: Watcher[Key] } = { output: () => {}, event: () => {} };
    const { client } = await HostClient.connect({
      address: this.#socket,
      role,
      credential: operatorCredential(operatorKey({ stateDir: this.directory })),
      output: (_, bytes) => watcher.output!(bytes),
      event: (event) => watcher.event!(event),
      ended: () => {},
    });
    watcher.client = client;
    return watcher as Watcher;
  }

  ask<Data>(request: Parameters<HostClient['ask']>[0]): Promise<Data> {
    return this.#daemon!.client.ask(request, 120_000) as Promise<Data>;
  }

  /** Behind its gate. */
  async open(argv: readonly string[]): Promise<{ sessionId: string; guardianPid: number; dir: string }> {
    const sessionId = `P${++this.#count}`;
    const scopeDir = join(this.directory, `scope-${this.#count}`);
    const dir = join(this.directory, 'transcripts', sessionId);
    const launch = {
      guardianPath,
      scopeId: `S${this.#count}`,
      scopeDir,
      installationId: 'I0123456789',
      slots: await reserveSlots(scopeDir),
      argv: [...argv],
      env: { PATH: process.env.PATH ?? '' },
      cwd: this.directory,
      umask: 0o022,
      handshakeMs: 20_000,
    };
    const transcript = { dir, maxBytes: null };
    const request = { do: 'open', sessionId, cols: 80, rows: 24, launch, transcript, term: 'xterm-256color' } as const;
    const { guardian } = await this.ask<{ guardian: { pid: number } }>(request);
    return { sessionId, guardianPid: guardian.pid, dir };
  }

  /** Memory that is resident and its own, in bytes, and times that one of its threads went to sleep (proc(5)). */
  figures(): { residentBytes: number; wakeups: number } {
    const rollup = readFileSync(`/proc/${this.pid}/smaps_rollup`, 'utf8');
    const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)?.[1]);
    let wakeups = 0;
    for (const thread of readdirSync(`/proc/${this.pid}/task`)) {
      const status = readFileSync(`/proc/${this.pid}/task/${thread}/status`, 'utf8');
      wakeups += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
    }
    const residentBytes = (kilobytes('Private_Dirty') + kilobytes('Private_Clean')) * 1024;
    return { residentBytes, wakeups };
  }

  close(): void {
    this.#daemon?.client.close();
    this.#child.kill('SIGKILL');
    removed(this.directory);
  }
}

/** The guardians go on for a moment, and leave their receipts in what is just being removed. */
function removed(directory: string): void {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    try {
      rmSync(directory, { recursive: true, force: true });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
    }
  }
  console.error(`could not be removed: ${directory}`);
}
