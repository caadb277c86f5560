/** Runs the shipped command line as a user's shell would: a process, its two streams, its exit status. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../../package.json' with { type: 'json' };

/** What an installation puts on the PATH. */
export const program = fileURLToPath(new URL(`../../../${manifest.bin.custody}`, import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Home {
  /** Everything that the command line may touch lies below. */
  readonly dir: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

/** A user with nothing: an own HOME and no variable of whoever runs the tests but PATH. `name` is the state directory's. */
export function emptyHome(name = 'state'): Home {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'custody-cli-')));
  mkdirSync(join(dir, 'tmp'));
  const stateDir = join(dir, name);
  return {
    dir,
    stateDir,
    env: { PATH: process.env.PATH ?? '', HOME: dir, TMPDIR: join(dir, 'tmp'), CUSTODY_HOME: stateDir },
    remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
}

export interface RunOptions extends Pick<SpawnOptions, 'cwd'> {
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  /** What stands in front of the program (nsenter). */
  readonly prefix?: readonly string[];
}

export function start(args: readonly string[], { env, cwd, prefix = [] }: RunOptions): ChildProcess {
  const [command = process.execPath, ...words] = [...prefix, process.execPath, program, ...args];
  return spawn(command, words, { env, cwd: cwd ?? env.HOME, stdio: ['pipe', 'pipe', 'pipe'] });
}

export function run(args: readonly string[], options: RunOptions): Promise<Finished> {
  const child = start(args, options);
  child.stdin?.on('error', () => undefined).end(options.input ?? '');
  return finished(child);
}

export function finished(child: ChildProcess): Promise<Finished> {
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  child.stdout?.on('data', (chunk: Buffer) => chunks.stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => chunks.stderr.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) =>
      resolve({
        code,
        signal,
        stdout: Buffer.concat(chunks.stdout).toString('utf8'),
        stderr: Buffer.concat(chunks.stderr).toString('utf8'),
      }),
    );
  });
}

/** The one JSON object of an answer; throws when stdout holds anything else. */
export function json({ stdout }: Finished): JsonAnswer {
  const lines = stdout.split('\n');
  if (lines.length !== 2 || lines[1] !== '') throw new Error(`not exactly one line: ${JSON.stringify(stdout)}`);
  return JSON.parse(lines[0] as string) as JsonAnswer;
}

export interface JsonAnswer {
  readonly ok: boolean;
  readonly command?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests are what checks these shapes
  readonly data?: any;
  readonly warnings?: readonly string[];
  readonly health?: { readonly state: string };
  readonly journalPosition?: number | null;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly retryable: boolean;
    readonly next: readonly string[];
    // biome-ignore lint/suspicious/noExplicitAny: as above
    readonly details?: any;
  };
}

/** The same command line with --json, in front of the workload's own words. */
export function withJson(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.toSpliced(end < 0 ? args.length : end, 0, '--json');
}
