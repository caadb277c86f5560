/**
 * `npm run soak`: the tests that repeat (kill loops, random seeds, forged receipts) with their full counts, which take
 * hours instead of minutes. A test takes part by reading `CUSTODY_SOAK`, itself or through a module of test/support; it
 * says how often it did what with `annotate('500 kills of the daemon')`. A run over everything writes docs/soak.md.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { basename, join } from 'node:path';
import { defineConfig } from 'vitest/config';
import type { Reporter, TestCase } from 'vitest/node';

const flag = 'CUSTODY_SOAK';
const hour = 3_600_000;

/** Test files that read the flag, or import a module of test/support that does. */
function repeatingTests(): string[] {
  const paths = (readdirSync('test', { recursive: true }) as string[]).map((path) => join('test', path));
  const scripts = paths
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const counters = scripts
    .filter(({ path, text }) => path.startsWith(join('test', 'support')) && text.includes(flag))
    .map(({ path }) => `support/${basename(path)}`);
  return scripts
    .filter(({ path, text }) => path.endsWith('.test.ts') && [flag, ...counters].some((name) => text.includes(name)))
    .map(({ path }) => path);
}

const everything = repeatingTests();

/** A part of the tests must not look like all of them: only a run of every file and every test writes the report. */
const soakReport: Reporter = {
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const whole = modules.length === everything.length && tests.every((test) => test.result().state !== 'skipped');
    if (!whole) return;
    mkdirSync('docs', { recursive: true });
    writeFileSync('docs/soak.md', report(tests));
  },
};

/** Tests that count what they do, and whatever did not pass; the others are the same as in `npm test`. */
function report(tests: readonly TestCase[]): string {
  const counted = (test: TestCase) => test.annotations().filter(({ message }) => /^\d/.test(message));
  const passed = tests.filter((test) => test.result().state === 'passed');
  const shown = tests.filter((test) => counted(test).length > 0 || !passed.includes(test));
  const rows = shown.map((test) => {
    const seconds = ((test.diagnostic()?.duration ?? 0) / 1_000).toFixed(1);
    const did = counted(test).map(({ message }) => message);
    const cells = [test.module.relativeModuleId, test.fullName, did.join('; '), test.result().state, seconds];
    return `| ${cells.map(cell).join(' | ')} |`;
  });
  return [
    '# The last soak',
    '',
    'Written by `npm run soak`; measured, not intended.',
    '',
    `${new Date().toISOString().slice(0, 10)}, Linux ${release()}, ${cpus().length} processors, Node ${process.version}.`,
    '',
    `${passed.length} of ${tests.length} tests passed. Those that count what they repeat:`,
    '',
    '| file | test | what it did | result | seconds |',
    '|---|---|---|---|---:|',
    ...rows.sort(),
    '',
  ].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

export default defineConfig({
  test: {
    include: everything,
    globalSetup: ['test/support/build.ts'],
    env: { [flag]: '1' },
    testTimeout: 2 * hour,
    hookTimeout: hour / 6,
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['verbose', soakReport],
  },
});
