import { isScript, type SourceFile } from '../project.ts';
import { type Finding, finding, type Rule } from '../rule.ts';
import { child, children, nameOf, type SyntaxNode, syntaxOf } from '../syntax.ts';

export const parses: Rule = {
  name: 'every script parses, so that every other rule has seen it',
  check(files): Finding[] {
    return files.filter(isScript).flatMap((file) => {
      const { problem } = syntaxOf(file);
      return problem === undefined ? [] : [finding(file, 1, problem)];
    });
  },
  caught: [{ 'machines/a.ts': 'const a = ;' }],
  allowed: [{ 'machines/a.ts': 'const a = <T,>(x: T) => x satisfies T;' }],
};

const noGrabBags: Rule = {
  name: 'no file is named index, utils or helpers',
  check(files) {
    return files
      .filter((file) => isScript(file) && /(^|\/)(index|utils?|helpers?|common|misc)\.\w+$/.test(file.path))
      .map((file) => finding(file, 1, 'a file is named after the thing in it'));
  },
  caught: [{ 'machines/index.ts': '' }, { 'test/support/utils.ts': '' }, { 'cli/helpers.mjs': '' }],
  allowed: [{ 'persistence/schema/indexes.ts': '' }],
};

const noBarrels: Rule = {
  name: 'no file consists of re-exports',
  check(files) {
    return files.filter((file) => isScript(file) && isBarrel(file)).map((file) => finding(file, 1, 'a barrel file'));
  },
  caught: [
    { 'machines/events.ts': "export * from './goal.ts'; export type { Run } from './run.ts';" },
    { 'machines/events.ts': "import { goal } from './goal.ts'; export { goal };" },
  ],
  allowed: [
    { 'machines/events.ts': "export * from './goal.ts'; export const all = 1;", 'machines/empty.ts': '' },
    { 'cli/main.ts': "import './program.ts';", 'machines/a.ts': 'const a = 1; export { a };' },
  ],
};

function isBarrel(file: SourceFile): boolean {
  const body = children(syntaxOf(file).nodes[0] ?? { type: 'Program', start: 0, end: 0 }, 'body');
  const exported = body.filter((node) => node.type !== 'ImportDeclaration');
  return exported.length > 0 && exported.every((node) => isReExport(node));
}

/** `export … from`, or `export { … }` of names that the file does not declare (nothing else stands in a barrel). */
function isReExport(node: SyntaxNode): boolean {
  if (nameOf(child(node, 'source')) !== undefined) return true;
  return node.type === 'ExportNamedDeclaration' && child(node, 'declaration') === undefined;
}

export const fileRules: readonly Rule[] = [parses, noGrabBags, noBarrels];
