/** The charts that a revision of this program had, as they are committed with its pages. Git only reads here. */
import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Chart, ChartState } from './chart.ts';

const run = promisify(execFile);

/** Where the pages and the charts lie in a checkout. */
export const protocolFolder = 'docs/protocol';
const suffix = '.chart.json';
/** A chart has some 100 kB. */
const maxBuffer = 64 * 1024 * 1024;

export type Charts =
  | { readonly found: ReadonlyMap<string, Chart>; readonly commit: string }
  | { readonly missing: 'git' | 'checkout' | 'revision' | 'charts' }
  /** Path of what should be a chart, and is none, or one of another form. */
  | { readonly unreadable: string };

const words = z.array(z.string());
const state: z.ZodType<ChartState> = z.lazy(() =>
  z.object({
    ...{ id: z.string(), key: z.string(), kind: z.enum(['atomic', 'compound', 'parallel', 'final', 'history']) },
    ...{ initial: z.string().nullable(), history: z.enum(['shallow', 'deep']).nullable(), defaults: words },
    ...{ description: z.string().nullable(), tags: words, entry: words, exit: words, children: z.array(state) },
  }),
);
const transition = z.object({
  ...{ id: z.string(), source: z.string(), targets: words, reenter: z.boolean(), event: z.string() },
  ...{ guard: z.string().nullable(), guards: words, condition: z.unknown(), actions: words },
  description: z.string().nullable(),
});
/** Whoever has made the checkout has written it, and the name of a drawing is made of `kind`. */
const chartSchema = z.object({
  ...{ kind: z.string(), version: z.number(), hash: z.string(), root: state, transitions: z.array(transition) },
  calls: z.record(z.string(), z.object({ type: z.string(), params: z.unknown() })),
});

/** Undefined for what is no chart of the kind that its file is named after. */
function chartIn(path: string, text: string): Chart | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { success, data } = chartSchema.safeParse(value);
  return success && data.kind === basename(path, suffix) ? (data as Chart) : undefined;
}

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
      const chart = chartIn(path, (await git('show', `${commit}:${path}`)) ?? '');
      if (chart === undefined) return { unreadable: path };
      found.set(chart.kind, chart);
    }
    return { found, commit };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return { missing: 'git' };
    throw thrown;
  }
}
