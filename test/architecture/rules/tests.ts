import { importsOf } from '../imports.ts';
import { isScript, type SourceFile } from '../project.ts';
import { finding, type Rule } from '../rule.ts';
import { child, children, functionTypes, memberOf, nameOf, nodesOfType, type SyntaxNode } from '../syntax.ts';

const poller = 'test/support/eventually.ts';

function testScripts(files: readonly SourceFile[]): SourceFile[] {
  return files.filter((file) => isScript(file) && file.path.startsWith('test/'));
}

const runners = new Set(['it', 'test', 'describe', 'suite', 'bench', 'context', 'ctx', 'task', 't']);
const dodges = new Set(['only', 'skip', 'todo', 'runIf', 'skipIf', 'fails']);
const oldDodges = new Set(['xit', 'xtest', 'xdescribe', 'fit', 'fdescribe']);

const allRun: Rule = {
  name: 'every test runs, everywhere: no only, skip, todo, runIf or skipIf',
  check(files) {
    return testScripts(files).flatMap((file) =>
      [
        ...nodesOfType(file, 'MemberExpression').filter((node) => isDodge(node)),
        ...nodesOfType(file, 'CallExpression').filter((node) => oldDodges.has(nameOf(child(node, 'callee')) ?? '')),
        ...nodesOfType(file, 'ObjectPattern').filter((node) =>
          children(node, 'properties').some((property) => nameOf(child(property, 'key')) === 'skip'),
        ),
        ...nodesOfType(file, 'Property').filter(isDodgingOption),
      ].map((node) => finding(file, node, 'a test that does not run proves nothing')),
    );
  },
  caught: [
    { 'test/a.test.ts': "it.only('x', () => {});" },
    { 'test/a.test.ts': "describe.skip('x', () => {});" },
    { 'test/a.test.ts': "it.concurrent.todo('x');" },
    { 'test/a.test.ts': "it.skipIf(isRoot)('x', () => {});" },
    { 'test/a.test.ts': "test.runIf(process.env.CI)('x', () => {});" },
    { 'test/a.test.ts': "it('x', (context) => { context.skip(); });" },
    { 'test/a.test.ts': "it('x', ({ skip }) => { skip(); });" },
    { 'test/a.test.ts': "it('x', { skip: true }, () => {});" },
    { 'test/a.test.ts': "xit('x', () => {});" },
  ],
  allowed: [{ 'test/a.test.ts': "it('x', () => { rows.skip(1); expect(list.only).toBe(1); });" }],
};

/** `it.skip`, `it.concurrent.only`, `context.skip`: the leftmost name is a runner's. */
function isDodge(node: SyntaxNode): boolean {
  if (!dodges.has(memberOf(node)?.property ?? '')) return false;
  let left = child(node, 'object');
  while (left?.type === 'MemberExpression') left = child(left, 'object');
  return runners.has(nameOf(left) ?? '');
}

function isDodgingOption(node: SyntaxNode): boolean {
  return ['skip', 'only', 'todo'].includes(nameOf(child(node, 'key')) ?? '') && child(node, 'value')?.value === true;
}

const noSleep: Rule = {
  name: 'tests wait for events and never sleep',
  check(files) {
    return testScripts(files)
      .filter((file) => file.path !== poller && !/(^|\/)fixtures\//.test(file.path))
      .flatMap((file) => [
        ...importsOf(file)
          .filter((one) => one.target === 'node:timers/promises' || one.target === 'timers/promises')
          .map((one) => finding(file, one.line, 'sleeps')),
        ...nodesOfType(file, 'NewExpression')
          .flatMap((node) => sleeps(file, node))
          .map((node) => finding(file, node, 'sleeps')),
        ...nodesOfType(file, 'CallExpression')
          .filter(blocks)
          .map((node) => finding(file, node, 'sleeps')),
      ]);
  },
  caught: [
    { 'test/a.test.ts': 'await new Promise((resolve) => setTimeout(resolve, 100));' },
    { 'test/a.test.ts': 'await new Promise<void>((done) => { setTimeout(() => done(), 100); });' },
    { 'test/support/a.ts': "import { setTimeout as sleep } from 'node:timers/promises';" },
    { 'test/a.test.ts': "execFileSync('sleep', ['1']);" },
    { 'test/a.test.ts': 'Atomics.wait(cells, 0, 0, 100);' },
  ],
  allowed: [
    {
      'test/a.test.ts':
        "spawn('sleep', ['60']); new Promise((resolve, reject) => { child.once('exit', resolve); setTimeout(() => reject(new Error('late')), 9); });",
      'test/support/eventually.ts': 'await new Promise((resolve) => setTimeout(resolve, 10));',
      'test/guardian/fixtures/agent.mjs': 'await new Promise((resolve) => setTimeout(resolve, 10));',
    },
  ],
};

/** `new Promise(resolve => … setTimeout(… resolve …))`: time alone fulfils it. A timer that only rejects is a deadline. */
function sleeps(file: SourceFile, node: SyntaxNode): SyntaxNode[] {
  const executor = children(node, 'arguments')[0];
  if (nameOf(child(node, 'callee')) !== 'Promise' || executor === undefined) return [];
  const resolve = nameOf(children(executor, 'params')[0]);
  return nodesOfType(file, 'CallExpression')
    .filter((call) => call.start > executor.start && call.end <= executor.end)
    .filter((call) => nameOf(child(call, 'callee')) === 'setTimeout')
    .filter((call) => {
      const callback = children(call, 'arguments')[0];
      if (callback === undefined || resolve === undefined) return false;
      if (!functionTypes.some((type) => type === callback.type)) return nameOf(callback) === resolve;
      return new RegExp(`\\b${resolve}\\s*\\(`).test(file.text.slice(callback.start, callback.end));
    });
}

function blocks(call: SyntaxNode): boolean {
  const callee = child(call, 'callee');
  const { object, property } = callee === undefined ? {} : (memberOf(callee) ?? {});
  if (object === 'Atomics' && property === 'wait') return true;
  return /Sync$/.test(property ?? nameOf(callee) ?? '') && nameOf(children(call, 'arguments')[0]) === 'sleep';
}

export const testRules: readonly Rule[] = [allRun, noSleep];
