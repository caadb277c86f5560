/** The page of the last verification names what is there now: whoever adds a guard or an invariant writes it anew. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mutantName } from '../../../inspect/verify/charts.ts';
import { configurations } from '../../../inspect/verify/configurations/all.ts';
import { testedElsewhere } from '../../../inspect/verify/elsewhere.ts';
import { mutants } from '../../../inspect/verify/mutants.ts';

describe('docs/verification.md', () => {
  const page = readFileSync(new URL('../../../docs/verification.md', import.meta.url), 'utf8');
  const missing = (texts: readonly string[]): readonly string[] => texts.filter((text) => !page.includes(text));

  it('has a row for every configuration, and its bounds', () => {
    expect(missing(configurations.map(({ name }) => `| ${name} |`))).toEqual([]);
    expect(missing(configurations.flatMap(({ bounds }) => bounds))).toEqual([]);
  });

  it('has a row for every invariant and every prospect', () => {
    const laws = configurations.flatMap(({ invariants, prospects = [] }) => [...invariants, ...prospects]);
    expect(missing(laws.map(({ id, title }) => `| ${id} | ${title} |`))).toEqual([]);
    expect(missing(Object.keys(testedElsewhere).map((id) => `- ${id}: `))).toEqual([]);
  });

  it('has a row for every mutant, and none besides', () => {
    expect(missing(mutants.map((mutant) => `| \`${mutantName(mutant)}\` |`))).toEqual([]);
    expect(page.match(/^\| `/gm)).toHaveLength(mutants.length);
  });
});
