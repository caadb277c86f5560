/** The charts that a revision of this program had, as they are committed with its pages. Git only reads here. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Chart } from './chart.ts';

const run = promisify(execFile);

/** Where the pages and the charts lie in a checkout. */
export const protocolFolder = 'docs/protocol';
const suffix = '.chart.json';
/** A chart has some 100 kB. */
const maxBuffer = 64 * 1024 * 1024;

export type Charts =
  | { readonly found: ReadonlyMap<string, Chart>; readonly commit: string }
  | { readonly missing: 'git' | 'checkout' | 'revision' | 'charts' };

/** The charts of a revision by kind, or what is not there. `directory` is somewhere in the checkout. */
export async function chartsAt(revision: string, directory: string): Promise<Charts> {
  const git = async (...words: string[]): Promise<string | null> => {
    try {
      return (await run('git', ['-C', directory, ...words], { maxBuffer })).stdout;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') throw thrown;
      return null;
    }
  };
  try {
    const top = await git('rev-parse', '--show-toplevel');
    if (top === null) return { missing: 'checkout' };
    const commit = (await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`))?.trim();
    if (commit === undefined) return { missing: 'revision' };
    const listed = await git('ls-tree', '--full-tree', '--name-only', '-z', commit, `${protocolFolder}/`);
    const paths = (listed ?? '').split('\0').filter((path) => path.endsWith(suffix));
    if (paths.length === 0) return { missing: 'charts' };
    const found = new Map<string, Chart>();
    for (const path of paths) {
      const chart = JSON.parse((await git('show', `${commit}:${path}`)) ?? 'null') as Chart;
      found.set(chart.kind, chart);
    }
    return { found, commit };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return { missing: 'git' };
    throw thrown;
  }
}
