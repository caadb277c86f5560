import { productionFolders } from '../project.ts';
import { finding, matchingLines, type Rule } from '../rule.ts';

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

export const textRules: readonly Rule[] = [noMachinePaths, noRegistry, noVersionedLayout];
