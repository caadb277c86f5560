import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One text file of the project. `path` is relative to the root and uses forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a build, an install or git made is not source. */
const notSource = new Set([
  'node_modules',
  'test/agents/fixtures/node_modules',
  'test/inspect/diagrams/fixtures/node_modules',
  'dist',
  '.git',
  'coverage',
  'pty/guardian/build',
  'pty/note/build',
]);
const binary = /\.(png|jpe?g|gif|ico|svgz|woff2?|db|gz|tgz|zip)$/;

/** Every text file below the root, committed or not: a rule must hold before the commit, not after it. */
export function readProject(): SourceFile[] {
  const files: SourceFile[] = [];
  const pending = [root];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const full = join(folder, entry.name);
      const path = relative(root, full);
      if (notSource.has(path)) continue;
      if (entry.isDirectory()) pending.push(full);
      else if (entry.isFile() && !binary.test(path)) files.push({ path, text: readFileSync(full, 'utf8') });
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A made-up project, for showing that a rule catches what it forbids. */
export function madeUp(files: Readonly<Record<string, string>>): SourceFile[] {
  return Object.entries(files).map(([path, text]) => ({ path, text }));
}

/** The folders whose code ships. Order means nothing here; who may import whom is in rules/layers.ts. */
export const productionFolders = ['machines', 'persistence', 'pty', 'actors', 'inspect', 'cli'] as const;

export function isScript(file: SourceFile): boolean {
  return /\.(ts|tsx|mts|mjs|js)$/.test(file.path);
}

export function isC(file: SourceFile): boolean {
  return /\.[ch]$/.test(file.path);
}

export function isProduction(file: SourceFile): boolean {
  return productionFolders.some((folder) => file.path.startsWith(`${folder}/`));
}

/** Production TypeScript and JavaScript, optionally below one prefix. */
export function productionScripts(files: readonly SourceFile[], prefix = ''): SourceFile[] {
  return files.filter((file) => isScript(file) && isProduction(file) && file.path.startsWith(prefix));
}
