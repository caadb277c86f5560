import { posix } from 'node:path';
import { productionFolders, type SourceFile } from '../project.ts';
import { type Finding, finding, matchingLines, type Rule } from '../rule.ts';
import { lineAt } from '../syntax.ts';

/** Spelt in parts, so that this file does not contain what it forbids. */
const registryHost = ['registry', 'npmjs', 'org'].join('.');
const homePath = ['', 'home', 'somebody', 'custody'].join('/');

const noMachinePaths: Rule = {
  name: 'no file names a directory of somebody’s machine',
  check(files) {
    return files.flatMap((file) =>
      matchingLines(
        file,
        /(^|[^\w.$}-])\/(home\/[\w-]+\/|Users\/[\w-]+\/|root\/[\w.]|work\/[\w.])/,
        'a path that exists on one machine only',
      ),
    );
  },
  caught: [
    { 'README.md': `see ${homePath}` },
    { 'test/a.ts': `const p = '${homePath}';` },
    { '.ci/run': `cd ${homePath}` },
  ],
  allowed: [
    { 'cli/a.ts': "join(root, 'home/x/'); const p = `$" + '{dir}/work/tree`;', 'docs/a.md': 'runs as /root too' },
  ],
};

const noRegistry: Rule = {
  name: 'no file names a package registry, the lock file included',
  check(files) {
    return files.flatMap((file) => [
      ...matchingLines(file, /\bregistry\.[\w-]+\.[a-z]+|\bregistry\s*=\s*http|yarnpkg\.com/i, 'a registry host'),
      ...(file.path === 'package-lock.json' ? matchingLines(file, /"resolved"\s*:/, 'a download address') : []),
    ]);
  },
  caught: [
    { 'docs/a.md': `npm install from ${registryHost}` },
    { '.npmrc': ['registry', 'http://localhost:4873'].join('=') },
    { 'package-lock.json': '{ "node_modules/a": { "resolved": "x" } }' },
  ],
  allowed: [
    { 'machines/registry.ts': 'export const registry = { goal };', 'package-lock.json': '{ "integrity": "x" }' },
  ],
};

const noVersionedLayout: Rule = {
  name: 'the layout carries no version suffix (INT-13)',
  check(files) {
    return files
      .filter((file) => productionFolders.some((folder) => file.path.startsWith(`${folder}/`)))
      .filter((file) => /(^|[/._-])v\d+([/.]|$)/i.test(file.path))
      .map((file) => finding(file, 1, 'versions live in the definitions, not in names of folders'));
  },
  caught: [{ 'machines/v2/goal.ts': '' }, { 'actors/host-v2.ts': '' }],
  allowed: [{ 'test/fixtures/goal.v1.json': '', 'machines/goal.ts': '' }],
};

const linksLead: Rule = {
  name: 'a link from one page of the project to another leads somewhere',
  check(files) {
    const paths = new Set(files.flatMap(({ path }) => withFolders(path)));
    return files.filter((file) => file.path.endsWith('.md')).flatMap((file) => deadLinks(file, paths));
  },
  caught: [{ 'README.md': 'see [the guide](docs/guide.md)' }, { 'docs/a.md': '![chart](chart.svg#x)' }],
  allowed: [
    {
      'README.md': '[a](docs/a.md#top) [all](docs/) [b](https://example.org/b) [c](#c)',
      'docs/a.md': '[up](../README.md)',
    },
  ],
};

/** `a/b/c.md` → `a`, `a/b`, `a/b/c.md`. */
function withFolders(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function deadLinks(file: SourceFile, paths: ReadonlySet<string>): Finding[] {
  return [...file.text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
    .filter(([, link = '']) => !/^[a-z]+:/.test(link))
    .filter(([, link = '']) => !paths.has(posix.join(posix.dirname(file.path), link).replace(/\/$/, '')))
    .map((match) => finding(file, lineAt(file, match.index), `${match[1]} does not exist`));
}

export const textRules: readonly Rule[] = [noMachinePaths, noRegistry, noVersionedLayout, linksLead];
