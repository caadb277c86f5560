import { describe, expect, it } from 'vitest';
import { madeUp, readProject } from './project.ts';
import type { Rule } from './rule.ts';
import { chartRules } from './rules/charts.ts';
import { fileRules, parses } from './rules/files.ts';
import { layerRules } from './rules/layers.ts';
import { noteRules } from './rules/notes.ts';
import { ownershipRules } from './rules/ownership.ts';
import { packageRules } from './rules/package.ts';
import { pageRules } from './rules/page.ts';
import { planeRules } from './rules/planes.ts';
import { platformRules } from './rules/platform.ts';
import { purityRules } from './rules/purity.ts';
import { requirementRules } from './rules/requirements.ts';
import { signalRules } from './rules/signals.ts';
import { sizeRules } from './rules/size.ts';
import { storageRules } from './rules/storage.ts';
import { testRules } from './rules/tests.ts';
import { textRules } from './rules/text.ts';
import { writerRules } from './rules/writers.ts';

const rules: readonly Rule[] = [
  ...fileRules,
  ...layerRules,
  ...platformRules,
  ...purityRules,
  ...chartRules,
  ...planeRules,
  ...ownershipRules,
  ...noteRules,
  ...signalRules,
  ...storageRules,
  ...sizeRules,
  ...testRules,
  ...textRules,
  ...packageRules,
  ...pageRules,
  ...requirementRules,
  ...writerRules,
];

const project = readProject();

/** `path:line message`, so that a failure can be clicked. */
function report(rule: Rule, files: typeof project): string[] {
  return rule.check(files).map(({ path, line, message }) => `${path}:${line} ${message}`);
}

for (const rule of rules) {
  describe(rule.name, () => {
    it('holds in this project', () => {
      expect(report(rule, project)).toEqual([]);
    });

    for (const [index, example] of rule.caught.entries()) {
      it(`catches violation ${index + 1}`, () => {
        expect(report(rule, madeUp(example))).not.toEqual([]);
      });
    }

    for (const [index, example] of (rule.allowed ?? []).entries()) {
      it(`lets lookalike ${index + 1} pass`, () => {
        expect(report(rule, madeUp(example))).toEqual([]);
      });
    }
  });
}

it('shows violations that parse: what cannot be read is caught by one rule only', () => {
  const examples = rules.filter((rule) => rule !== parses).flatMap((rule) => [...rule.caught, ...(rule.allowed ?? [])]);
  expect(examples.flatMap((example) => parses.check(madeUp(example)))).toEqual([]);
});

it('reads the files that it judges, and every rule has a negative control', () => {
  expect(project.map((file) => file.path)).toContain('test/architecture/architecture.test.ts');
  expect(rules.filter((rule) => rule.caught.length === 0)).toEqual([]);
});
