import type { SourceFile } from '../project.ts';
import { requirementCounts } from '../requirementIds.ts';
import { type Finding, finding, type Rule } from '../rule.ts';

/** Looks like a requirement id and is none. */
const otherWords = new Set(['UTF-16']);

const idsExist: Rule = {
  name: 'every requirement id that code, tests and pages mention exists',
  check(files) {
    return files.filter((file) => /\.(ts|mjs|c|h|md)$/.test(file.path)).flatMap(unknownIds);
  },
  caught: [
    { 'test/a.test.ts': `it('says no (${'GOAL'}-99)', () => {});` },
    { 'machines/a.ts': `// ${'GAOL'}-01: a misspelt family` },
    { 'docs/a.md': `${'GRD'}-00` },
    { 'pty/guardian/a.c': `/* ${'I'}-43 */` },
  ],
  allowed: [{ 'test/a.test.ts': "it('GOAL-01, I-42 and L-16 hold in UTF-16 and SHA-256, 2024-GOAL-1', () => {});" }],
};

function unknownIds(file: SourceFile): Finding[] {
  return file.text
    .split('\n')
    .flatMap((text, index) =>
      [...text.matchAll(/(?<![\w-])([A-Z]{1,6})-(\d\d)(?![\w-])/g)]
        .filter(([id, family = '', number]) => !otherWords.has(id) && !exists(family, Number(number)))
        .map(([id]) => finding(file, index + 1, `${id} is not in the contract`)),
    );
}

function exists(family: string, number: number): boolean {
  return number >= 1 && number <= (requirementCounts[family] ?? 0);
}

export const requirementRules: readonly Rule[] = [idsExist];
