import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Bundles a script that uses the project's sources, next to the packages that it needs at run time. */
export function bundled(source: string, name: string): string {
  const directory = join(root, 'node_modules', '.cache', 'custody-tests');
  mkdirSync(directory, { recursive: true });
  const outfile = join(directory, `${name}.mjs`);
  buildSync({
    entryPoints: [join(root, source)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['better-sqlite3', 'vitest'],
    logLevel: 'error',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
  return outfile;
}

export interface Child {
  readonly process: ChildProcess;
  /** Lines of its standard output, as they come. */
  readonly lines: AsyncIterableIterator<string>;
  nextLine(): Promise<string>;
  /** How it ended, and what it had to complain. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>;
}

/** Starts a process that does not outlive its test. */
export function child(command: string, args: readonly string[], options: { uid?: number } = {}): Child {
  const { uid } = options;
  const started = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let stderr = '';
  started.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  started.stdin.on('error', () => {});
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>((resolve) => {
    started.on('close', (code, signal) => resolve({ code, signal, stderr }));
  });
  onTestFinished(async () => {
    started.kill('SIGKILL');
    await ended;
  });
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]() as AsyncIterableIterator<string>;
  const nextLine = async () => {
    const { value, done } = await lines.next();
    if (!done) return value;
    throw new Error(`the child ended: ${(await ended).stderr}`);
  };
  return { process: started, lines, nextLine, ended };
}

export const node = (script: string, ...args: string[]): Child => child(process.execPath, [script, ...args]);

/** In name spaces of its own, where an ordinary user may mount as well. */
export const nodeWithMounts = (script: string, ...args: string[]): Child =>
  child('unshare', ['-Urm', process.execPath, script, ...args]);
