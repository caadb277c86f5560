/** A user with a home, a directory to stand in and a place for temporary files, in which `custody demo` is run for real. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Finished, finished, program } from '../../cli/support/program.ts';
import { eventually } from '../../support/eventually.ts';
import { everythingBelow, listing } from './listing.ts';

export interface Stage {
  readonly dir: string;
  readonly home: string;
  readonly cwd: string;
  readonly tmp: string;
  readonly env: Readonly<Record<string, string>>;
  /** Everything that is not for the demonstration to touch, as `listing` describes it. */
  untouched(): string[];
  /** Names in the directory for temporary files. */
  leftFiles(): string[];
  remove(): void;
}

/** `tmpName` may hold slashes, blanks and whatever else a path may hold. */
export function stage({ tmpName = 'tmp' }: { readonly tmpName?: string } = {}): Stage {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'custody-demo-test-')));
  const [home, cwd, tmp] = [join(dir, 'home'), join(dir, 'cwd'), join(dir, tmpName)] as const;
  for (const path of [home, cwd, tmp]) mkdirSync(path, { recursive: true });
  writeFileSync(join(home, '.profile'), 'a file of its owner\n');
  writeFileSync(join(cwd, 'note.txt'), 'another one\n');
  return {
    dir,
    home,
    cwd,
    tmp,
    env: { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: tmp },
    untouched: () => [...listing(home), ...listing(cwd)],
    leftFiles: () => readdirSync(tmp),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** Gives the whole stage to somebody without privileges, if there are any to give away; returns how to be that user. */
export function handOver({ dir }: Stage): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const nobody = 65_534;
  for (const path of [dir, ...everythingBelow(dir)]) chownSync(path, nobody, nobody);
  chmodSync(dir, 0o755);
  return { uid: nobody, gid: nobody };
}

export interface DemoOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** Octal; the caller's file mode mask. */
  readonly umask?: string;
  /** Path of the command's entry module; the checkout's own build unless given. */
  readonly program?: string;
  /** The subcommand, if it is not the demonstration. */
  readonly command?: string;
}

export function start(at: Stage, args: readonly string[], options: DemoOptions = {}): ChildProcess {
  const { uid, gid, umask = '022', env = {}, cwd = at.cwd, command = 'demo' } = options;
  const line = 'umask "$1"; shift; exec "$@"';
  const words = [process.execPath, options.program ?? program, command, ...args];
  return spawn('/bin/sh', ['-c', line, 'sh', umask, ...words], {
    cwd,
    env: { ...at.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  });
}

export const demo = (at: Stage, args: readonly string[], options?: DemoOptions): Promise<Finished> =>
  finished(start(at, args, options));

/** Resolves with the output so far, once `pattern` is in it; rejects when the program ends before. */
export function said(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (pattern.test(text)) resolve(text);
    });
    child.once('close', () => reject(new Error(`it ended without ${pattern}: ${text}`)));
  });
}

/** Processes that have the stage's directory in their environment, arguments or working directory. */
export function processesOf({ dir }: Pick<Stage, 'dir'>): string[] {
  const needle = basename(dir);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => [...(['environ', 'cmdline'] as const), 'cwd'].some((what) => look(pid, what).includes(needle)))
    .map((pid) => `${pid} ${look(pid, 'cmdline').replaceAll('\0', ' ')}`);
}

function look(pid: string, what: string): string {
  try {
    return what === 'cwd' ? readlinkSync(`/proc/${pid}/cwd`) : readFileSync(`/proc/${pid}/${what}`, 'utf8');
  } catch {
    return '';
  }
}

/** The witness of the test: what the demonstration claims about itself is asked of the kernel once more. */
export const nobodyLeft = (at: Stage): Promise<true> =>
  eventually(`nobody of ${at.dir} is left`, () => (processesOf(at).length === 0 ? true : undefined));
