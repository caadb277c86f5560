import { describe, expect, it } from 'vitest';
import { madeUp, readProject } from './project.ts';
import type { Rule } from './rule.ts';
import { chartRules } from './rules/charts.ts';
import { layerRules, parses } from './rules/layers.ts';
import { ownershipRules } from './rules/ownership.ts';
import { packageRules } from './rules/package.ts';
import { planeRules } from './rules/planes.ts';
import { platformRules } from './rules/platform.ts';
import { purityRules } from './rules/purity.ts';
import { requirementRules } from './rules/requirements.ts';
import { signalRules } from './rules/signals.ts';
import { sizeRules } from './rules/size.ts';
import { storageRules } from './rules/storage.ts';
import { testRules } from './rules/tests.ts';
import { textRules } from './rules/text.ts';

const rules: readonly Rule[] = [
  ...layerRules,
  ...platformRules,
  ...purityRules,
  ...chartRules,
  ...planeRules,
  ...ownershipRules,
  ...signalRules,
  ...storageRules,
  ...sizeRules,
  ...testRules,
  ...textRules,
  ...packageRules,
  ...requirementRules,
];

const project = readProject();

/** `path:line message`, so that a failure can be clicked. */
function report(rule: Rule, files: typeof project): string[] {
  return rule.check(files).map(({ path, line, message }) => `${path}:${line} ${message}`);
}

describe.each(rules)('$name', (rule) => {
  it('holds in this project', () => {
    expect(report(rule, project)).toEqual([]);
  });

  it.each(rule.caught.map((example, index) => ({ number: index + 1, example })))(
    'catches violation $number',
    ({ example }) => {
      expect(report(rule, madeUp(example))).not.toEqual([]);
    },
  );

  it.each((rule.allowed ?? []).map((example, index) => ({ number: index + 1, example })))(
    'lets lookalike $number pass',
    ({ example }) => {
      expect(report(rule, madeUp(example))).toEqual([]);
    },
  );
});

it('shows violations that parse: what cannot be read is caught by one rule only', () => {
  const examples = rules.filter((rule) => rule !== parses).flatMap((rule) => [...rule.caught, ...(rule.allowed ?? [])]);
  expect(examples.flatMap((example) => parses.check(madeUp(example)))).toEqual([]);
});

it('reads the files that it judges, and every rule has a negative control', () => {
  expect(project.map((file) => file.path)).toContain('test/architecture/architecture.test.ts');
  expect(rules.filter((rule) => rule.caught.length === 0)).toEqual([]);
});
