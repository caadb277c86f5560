// tally.mjs FAILED_STEPS REPORT…: adds up vitest's JSON reports and prints `N passed, M failed` as its last line. A report
// that is missing, a run without tests and a test that did not run are failures: a skipped test proves nothing.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [failedSteps = '0', ...reports] = process.argv.slice(2);

let passed = 0;
let failed = 0;
let broken = 0;

for (const path of reports) {
  const report = read(path);
  if (report === undefined) continue;
  passed += report.numPassedTests;
  failed += report.numFailedTests;
  if (report.numTotalTests === 0) complain(`${path}: no test ran`);
  for (const file of report.testResults) {
    if (file.status !== 'passed' && file.assertionResults.length === 0) complain(`did not load: ${file.name}`);
    for (const test of file.assertionResults) {
      if (test.status !== 'passed') console.log(`${test.status}: ${relative('.', file.name)} > ${test.fullName}`);
      if (test.status !== 'passed' && test.status !== 'failed') broken += 1;
    }
  }
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    complain(`no report: ${error.message}`);
    return undefined;
  }
}

function complain(text) {
  broken += 1;
  console.log(text);
}

// A step may fail without a failing test (types, formatting, the demo); the closing line must not look like success then.
const total = failed + broken > 0 ? failed + broken : Number(failedSteps);
console.log(`${passed} passed, ${total} failed`);
process.exitCode = total > 0 || passed === 0 ? 1 : 0;
