import { importsOf } from '../imports.ts';
import { productionScripts, type SourceFile } from '../project.ts';
import { type Finding, finding, type Rule } from '../rule.ts';
import { child, memberOf, nameOf, nodesOfType, parentOf, type SyntaxNode } from '../syntax.ts';

/** Clock, randomness, I/O and everything asynchronous: what would make two replays of one journal differ. */
const impureNames = new Set([
  ...['Date', 'performance', 'process', 'globalThis', 'global', 'console', 'crypto', 'fetch', 'require'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'Promise', 'Intl', 'eval', 'Function'],
]);
const impureMembers: readonly (readonly [string, string])[] = [
  ['Math', 'random'],
  ['import', 'meta'],
];

const packages: Readonly<Record<string, readonly string[] | 'any'>> = {
  xstate: 'any',
  'xstate/guards': 'any',
  zod: 'any',
  'node:crypto': ['hash'],
};

const imports: Rule = {
  name: 'machines/ import xstate, zod and hash, and nothing else from outside',
  check(files) {
    return productionScripts(files, 'machines/').flatMap((file) =>
      importsOf(file)
        .filter((one) => !one.internal)
        .filter(({ target, names }) => {
          const allowed = packages[target] ?? [];
          return allowed !== 'any' && !(names.length > 0 && names.every((name) => allowed.includes(name)));
        })
        .map((one) => finding(file, one.line, `machines/ may not import ${one.names.join(', ')} from ${one.target}`)),
    );
  },
  caught: [
    { 'machines/a.ts': "import { readFileSync } from 'node:fs';" },
    { 'machines/a.ts': "import { randomBytes, hash } from 'node:crypto';" },
    { 'machines/a.ts': "import * as crypto from 'node:crypto';" },
    { 'machines/a.ts': "import 'node:crypto';" },
    { 'machines/a.ts': "import { of } from 'rxjs';" },
    { 'machines/a.ts': "import type { ReadStream } from 'node:fs';" },
  ],
  allowed: [
    {
      'machines/a.ts': "import { hash } from 'node:crypto'; import { setup } from 'xstate'; import * as z from 'zod';",
    },
  ],
};

const calls: Rule = {
  name: 'machines/ know no clock, no randomness, no process, no console and nothing asynchronous',
  check(files) {
    return productionScripts(files, 'machines/').flatMap((file) => [
      ...impureIdentifiers(file),
      ...impureMemberUses(file),
      ...asynchronous(file),
    ]);
  },
  caught: [
    { 'machines/a.ts': 'export const now = () => Date.now();' },
    { 'machines/a.ts': 'export const now = () => new Date();' },
    { 'machines/a.ts': 'const clock = Date;' },
    { 'machines/a.ts': 'const dice = Math.random();' },
    { 'machines/a.ts': "const dice = Math['random'];" },
    { 'machines/a.ts': 'const id = crypto.randomUUID();' },
    { 'machines/a.ts': 'const pid = process.pid;' },
    { 'machines/a.ts': 'globalThis.setTimeout(f, 1);' },
    { 'machines/a.ts': 'setInterval(f, 1);' },
    { 'machines/a.ts': 'console.log(1);' },
    { 'machines/a.ts': 'await fetch(url);' },
    { 'machines/a.ts': 'export async function f() {}' },
    { 'machines/a.ts': 'const here = import.meta.url;' },
    { 'machines/a.ts': 'const o = { performance };' },
  ],
  allowed: [
    { 'machines/a.ts': '// Date.now()\nconst process$ = { process: 1, fetch: 2 }; process$.process; Math.max(1, 2);' },
    { 'machines/a.ts': "const text = 'Math.random()';", 'actors/clock.ts': 'export const now = () => Date.now();' },
  ],
};

/** Shadowing counts as well: a machine that calls its parameter `process` reads as if it looked at one. */
function impureIdentifiers(file: SourceFile): Finding[] {
  return nodesOfType(file, 'Identifier')
    .filter((node) => impureNames.has(nameOf(node) ?? '') && !isMerelyAKey(file, node))
    .map((node) => finding(file, node, `${nameOf(node)} has no place in a pure machine`));
}

function isMerelyAKey(file: SourceFile, node: SyntaxNode): boolean {
  const parent = parentOf(file, node);
  if (parent === undefined || parent.computed === true) return false;
  if (parent.type === 'MemberExpression') return child(parent, 'property') === node;
  const keyed = ['Property', 'TSPropertySignature', 'TSMethodSignature', 'PropertyDefinition'].includes(parent.type);
  return keyed && child(parent, 'key') === node && parent.shorthand !== true;
}

function impureMemberUses(file: SourceFile): Finding[] {
  const members = nodesOfType(file, 'MemberExpression').filter((node) => {
    const { object, property } = memberOf(node) ?? {};
    return impureMembers.some(([name, member]) => name === object && member === property);
  });
  return [...members, ...nodesOfType(file, 'MetaProperty')].map((node) =>
    finding(file, node, `${file.text.slice(node.start, node.end)} has no place in a pure machine`),
  );
}

function asynchronous(file: SourceFile): Finding[] {
  const nodes = nodesOfType(file, 'AwaitExpression', 'ImportExpression', 'FunctionDeclaration', 'FunctionExpression');
  return [...nodes, ...nodesOfType(file, 'ArrowFunctionExpression')]
    .filter((node) => !node.type.includes('Function') || node.async === true)
    .map((node) => finding(file, node, 'a pure machine waits for nothing'));
}

export const purityRules: readonly Rule[] = [imports, calls];
