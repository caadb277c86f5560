/** WT-07: what is in the bundle of an executor is all that it can do; it never asks whether anything is alive. */

import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Every module that ends up in the bundle, and what it takes from Node. */
function bundled(entry: string): { readonly modules: readonly string[]; readonly node: readonly string[] } {
  const { metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    metafile: true,
    mainFields: ['module', 'main'],
    external: ['better-sqlite3', 'node-pty'],
    logLevel: 'silent',
  });
  const inputs = Object.values(metafile.inputs);
  const outside = inputs.flatMap(({ imports }) => imports.filter(({ external }) => external).map(({ path }) => path));
  return { modules: Object.keys(metafile.inputs), node: [...new Set(outside)].sort() };
}

/** Observing, ending, launching, deciding and storing: none of it is an executor's. */
const foreign =
  /^(actors\/(observe|drain|daemon|worker|host)\/|pty\/|persistence\/|machines\/(assessment|executionScope|run|worktreeGeneration|registry|protocol)|node_modules\/(xstate|rxjs)\/)/;
/** Nothing with which another program could be run or reached. */
const allowedOfNode = /^node:(crypto|fs|os|path|tty|url|process)$/;

describe.each([
  ['custody-archive', 'cli/archive.ts'],
  ['custody-remove', 'cli/remove.ts'],
])('%s', (name, entry) => {
  const { modules, node } = bundled(entry);

  it('holds no observation, no drain, no launching, no daemon and no store', () => {
    expect(modules).toContain('actors/executor/execute.ts');
    expect(modules.filter((path) => foreign.test(path))).toEqual([]);
  });

  it('starts no process and opens no connection', () => {
    expect(node.filter((path) => !allowedOfNode.test(path))).toEqual([]);
  });

  it('is what the package installs under its name', () => {
    expect((manifest.bin as Record<string, string>)[name]).toBe(`dist/${name}.cjs`);
  });
});

it('the rule sees what an executor must not hold', () => {
  expect(bundled('cli/worker.ts').modules.some((path) => foreign.test(path))).toBe(true);
  expect(bundled('actors/observe/linux/adapter.ts').modules.every((path) => !foreign.test(path))).toBe(false);
});
