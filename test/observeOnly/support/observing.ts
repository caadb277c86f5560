/** `custody observe` on a state directory of its own, beside work that the test launches by itself. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { createLinuxAdapter } from '../../../actors/observe/linux/adapter.ts';
import { fileIdentityOf } from '../../../actors/runtime/generations.ts';
import type { ProcessIdentity } from '../../../machines/identity.ts';
import { type NotedProcess, noteSchema, type Place } from '../../../machines/note.ts';
import { noting, type Said, type Voice } from '../../ingest/support/notes.ts';
import { makeRepository } from '../../support/daemonHome.ts';
import { cliProgram } from '../../support/daemonProcess.ts';

export interface Answered {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about.
  readonly json: any;
  readonly stderr: string;
}

export class Observing {
  readonly dir: string;
  readonly stateDir: string;
  readonly repo: string;
  /** What stands in front of the program. */
  readonly prefix: readonly string[];

  constructor(prefix: readonly string[] = []) {
    this.dir = realpathSync(mkdtempSync(join(tmpdir(), 'custody-observe-')));
    this.stateDir = join(this.dir, 'state');
    this.repo = makeRepository(join(this.dir, 'repository'));
    this.prefix = prefix;
    onTestFinished(() => rmSync(this.dir, { recursive: true, force: true }));
  }

  get env(): NodeJS.ProcessEnv {
    return { PATH: process.env.PATH, HOME: this.dir, CUSTODY_HOME: this.stateDir };
  }

  start(...args: string[]): ChildProcess {
    const [file, ...rest] = [...this.prefix, process.execPath, cliProgram, 'observe', ...args, '--json'];
    return spawn(file!, rest, { env: this.env, cwd: this.dir });
  }

  /** Runs to the end; `input` goes to standard input. */
  async observe(args: readonly string[], input = ''): Promise<Answered> {
    const child = this.start(...args);
    child.stdin!.on('error', () => {});
    child.stdin!.end(input);
    const [out, err, [code, signal]] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      once(child, 'exit'),
    ]);
    return { code, signal, json: out === '' ? undefined : JSON.parse(out), stderr: err };
  }

  /** The lines of notes, ingested from standard input. */
  ingest(lines: readonly unknown[]): Promise<Answered> {
    return this.observe(['ingest', '-'], lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }

  file(lines: readonly unknown[], name = 'notes.jsonl'): string {
    const path = join(this.dir, name);
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return path;
  }

  /** A document of `custody-legacy/1`, by a tool called `herd`. */
  document(parts: object, name = 'records.json'): string {
    const path = join(this.dir, name);
    writeFileSync(path, JSON.stringify({ format: 'custody-legacy/1', tool: 'herd', ...parts }));
    return path;
  }

  /** Imports it from a file; `args` follow the format. */
  import(source: string, ...args: string[]): Promise<Answered> {
    return this.observe(['import-legacy', source, '--format', 'custody-legacy/1', ...args]);
  }

  place(path = this.repo): Place {
    const { dev, ino, gitdir, born } = fileIdentityOf(path);
    return { path, dev, ino, gitdir, born };
  }
}

const adapter = createLinuxAdapter({ installationId: 'I0' as never });
export const thisBoot = adapter.capture(process.pid).bootId;

/** What a tool would have on record of it. */
export const claimOf = ({ pid, start, uid, pidns, timens }: NotedProcess) => ({
  ...{ pid, startTicks: start, uid, pidNamespace: pidns, timeNamespace: timens },
  bootId: thisBoot,
});

/** As a launcher on this machine numbers what it says. */
export function launcher(voice: Voice = {}) {
  const note = noting(voice);
  return (said: Said, number?: number) => {
    const made = note(said, number);
    return noteSchema.parse({ ...made, at: { ...made.at, wallMs: Date.now(), bootId: thisBoot } });
  };
}

/** A process that waits to be ended, and how a launcher would note it. */
export async function job(): Promise<{
  readonly child: ChildProcess;
  readonly process: NotedProcess;
  end(): Promise<void>;
}> {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const exited = once(child, 'exit');
  const end = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(end);
  return { child, process: noted(adapter.capture(child.pid!)), end };
}

/** A captured process, as a launcher notes it. */
export function noted({ pid, processToken, uid, namespace }: ProcessIdentity): NotedProcess {
  const [, pidns, timens] = /^pid:(\d+),time:(\d+)$/.exec(namespace)!;
  return { pid, start: processToken, uid, pidns: pidns!, timens: timens!, pidfs: null };
}
