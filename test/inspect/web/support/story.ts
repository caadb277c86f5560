/** A daemon whose Goals somebody moves on (fixtures/storyDaemon.ts), with the inspector open. */
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import type { CallArguments } from '../../../../actors/daemon/api/contract.ts';
import type { TestDaemon } from '../../../support/daemon.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
let program: string | undefined;

/** One file that may lie anywhere three levels below `root`. */
export function bundleStoryDaemon(root: string, outfile: string): void {
  buildSync({
    entryPoints: [join(root, 'test', 'inspect', 'web', 'fixtures', 'storyDaemon.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    mainFields: ['module', 'main'],
    external: ['better-sqlite3', 'fast-check'],
    logLevel: 'error',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
}

/** Bundled once per test file, and put in place in one step: another file may be starting it just now. */
export function storyDaemonCommand(): readonly string[] {
  if (program === undefined) {
    const directory = join(root, 'node_modules', '.cache', 'custody-tests');
    mkdirSync(directory, { recursive: true });
    const fresh = join(directory, `storyDaemon-${process.pid}.mjs`);
    bundleStoryDaemon(root, fresh);
    program = join(directory, 'storyDaemon.mjs');
    renameSync(fresh, program);
  }
  return [process.execPath, program];
}

/** Resolves when what was ordered is committed, with the wall time at which the daemon said so. */
export async function order(daemon: TestDaemon, what: Readonly<Record<string, unknown>>): Promise<number> {
  daemon.process.child.stdin!.write(`${JSON.stringify(what)}\n`);
  const { value, done } = await daemon.process.lines.next();
  if (done) throw new Error(`the daemon ended: ${daemon.process.stderr()}`);
  const answer = JSON.parse(value) as { readonly failed?: string; readonly atWallMs: number };
  if (answer.failed !== undefined) throw new Error(answer.failed);
  return answer.atWallMs;
}

/** The address that lets one page in. */
export async function openInspector(
  daemon: TestDaemon,
  options: Partial<CallArguments<'inspect.open'>> = {},
): Promise<string> {
  const { url } = await daemon.call('inspect.open', options as CallArguments<'inspect.open'>);
  return url;
}
