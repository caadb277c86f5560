/** One process of the daemon: the shipped entry module, started as the command line starts it, with a pipe to report on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ApiError } from '../../actors/daemon/api/views.ts';

export const daemonProgram = fileURLToPath(new URL('../../dist/daemon.js', import.meta.url));
export const cliProgram = programOf('custody');

/** A program by the name under which it is installed. */
function programOf(name: string): string {
  const manifest = new URL('../../package.json', import.meta.url);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly bin: Readonly<Record<string, string>> };
  return fileURLToPath(new URL(bin[name]!, manifest));
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A refusal, by the daemon or by one that did not start. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly error: ApiError;
  /** How the process that said so has ended; of one that serves on, nothing. */
  readonly ended: Ended;

  constructor(error: ApiError, ended: Ended = { code: null, signal: null }) {
    super(`${error.code} (exit ${error.exitCode}): ${error.message} ${JSON.stringify(error.details ?? {})}`);
    this.error = error;
    this.ended = ended;
  }
}

export interface DaemonProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Lines of its standard output; only the daemon of the failpoints has something to say there. */
  readonly lines: AsyncIterableIterator<string>;
  readonly exited: Promise<Ended>;
  stderr(): string;
}

export interface StartOptions {
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** The program and what stands in front of it (nsenter, setpriv, sh). */
  readonly command: readonly string[];
}

/** Resolves once it serves. Throws Refused with its own words, or what it left on standard error. */
export async function startDaemonProcess(options: StartOptions): Promise<DaemonProcess> {
  const [file, ...args] = [...options.command, '--state-dir', options.stateDir];
  const child = spawn(file!, args, { cwd: '/', env: options.env, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdin!.on('error', () => {});
  const exited = new Promise<Ended>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  await once(child, 'spawn');
  const ready = child.stdio[3] as Readable;
  ready.on('error', () => {});
  const [line] = await Promise.race([once(createInterface({ input: ready }), 'line'), exited.then(() => [])]);
  if (line === undefined) {
    const { code, signal } = await exited;
    throw new Error(`the daemon ended before it served: ${code ?? signal}: ${stderr}`);
  }
  const said = JSON.parse(line as string) as { readonly ok: true } | { readonly ok: false; readonly error: ApiError };
  ready.destroy();
  if (!said.ok) throw new Refused(said.error, await exited);
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]() as AsyncIterableIterator<string>;
  return { pid: child.pid!, child, lines, exited, stderr: () => stderr };
}
