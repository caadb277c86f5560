import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Taking turns with a workload: both ends of a FIFO block until the other one is there, so nobody has to wait blindly. */
export interface Turns {
  /** Paths for the workload: it writes to the first and reads from the second. */
  readonly paths: readonly [string, string];
  /** The pid that the holder announced. */
  ready(): Promise<number>;
  release(): Promise<void>;
}

export function turns(directory: string, name = 'hold'): Turns {
  const paths = [join(directory, `${name}.ready`), join(directory, `${name}.release`)] as const;
  execFileSync('mkfifo', ['-m', '0666', ...paths]);
  return {
    paths,
    ready: async () => Number.parseInt(await readFile(paths[0], 'utf8'), 10),
    release: () => writeFile(paths[1], 'go\n'),
  };
}

/** `sh` that announces its own pid, waits, and goes on with `then`. */
export function holdInShell(t: Turns, then = ':'): string {
  return `echo $$ > '${t.paths[0]}'; read line < '${t.paths[1]}'; ${then}`;
}
