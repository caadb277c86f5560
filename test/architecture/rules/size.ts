import { functionsInC } from '../c.ts';
import { isC, isScript, type SourceFile } from '../project.ts';
import { finding, type Rule } from '../rule.ts';
import { child, children, functionTypes, lineAt, nameOf, nodesOfType, parentOf, type SyntaxNode } from '../syntax.ts';

const maxFileLines = 500;
const maxFunctionLines = 70;

function linesOf(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

const smallFiles: Rule = {
  name: `no source file has more than ${maxFileLines} lines`,
  check(files) {
    return files
      .filter((file) => isScript(file) || isC(file) || file.path.startsWith('.ci/'))
      .filter((file) => linesOf(file.text) > maxFileLines)
      .map((file) => finding(file, maxFileLines, `${linesOf(file.text)} lines; it holds more than one thing`));
  },
  caught: [{ 'cli/a.ts': ';\n'.repeat(maxFileLines + 1) }, { 'pty/guardian/a.c': '\n'.repeat(maxFileLines + 1) }],
  allowed: [{ 'cli/a.ts': ';\n'.repeat(maxFileLines), 'docs/a.md': '\n'.repeat(maxFileLines + 1) }],
};

const body = ';\n'.repeat(maxFunctionLines);

const smallFunctions: Rule = {
  name: `no function has more than ${maxFunctionLines} lines`,
  check(files) {
    return [...files.filter(isScript).flatMap(longFunctions), ...files.filter(isC).flatMap(longCFunctions)];
  },
  caught: [
    { 'cli/a.ts': `function f() {\n${body}}` },
    { 'cli/a.ts': `const f = () => {\n${body}};` },
    { 'cli/a.ts': `class A { m() {\n${body}} }` },
    { 'test/a.test.ts': `it('x', () => {\n${body}});` },
    { 'pty/guardian/a.c': `#define X {\nstatic int f(int (*g)(void))\n{\n${body}}\n` },
  ],
  allowed: [
    { 'cli/a.ts': `function f() {\n${body.slice(4)}}` },
    { 'test/a.test.ts': `describe('x', () => {\n${body}}); describe.each([1])('x', () => {\n${body}});` },
    { 'pty/guardian/a.c': `static const struct rule rules[] = {\n${body}};\nint f(void) {\n${body.slice(4)}}\n` },
  ],
};

function longFunctions(file: SourceFile) {
  return nodesOfType(file, ...functionTypes)
    .map((node) => ({ node, lines: lineAt(file, node.end) - lineAt(file, node.start) + 1 }))
    .filter(({ node, lines }) => lines > maxFunctionLines && !groupsTests(file, node))
    .map(({ node, lines }) => finding(file, node, `a function of ${lines} lines`));
}

/** The callback of `describe(…)` is a table of contents, not a function that somebody has to hold in mind. */
function groupsTests(file: SourceFile, node: SyntaxNode): boolean {
  const call = parentOf(file, node);
  return call?.type === 'CallExpression' && children(call, 'arguments').includes(node) && rootName(call) === 'describe';
}

function rootName(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === 'CallExpression') return rootName(child(node, 'callee'));
  return node?.type === 'MemberExpression' ? rootName(child(node, 'object')) : nameOf(node);
}

function longCFunctions(file: SourceFile) {
  return functionsInC(file.text)
    .filter(({ lines }) => lines > maxFunctionLines)
    .map(({ name, line, lines }) => finding(file, line, `${name} has ${lines} lines`));
}

export const sizeRules: readonly Rule[] = [smallFiles, smallFunctions];
