// `npm run acceptance:docs -- FILE` writes docs/acceptance.md from what `custody acceptance --json` has printed into FILE. It
// belongs on the machine on which that was, because a report does not say how many processors there are.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('name the file that holds the answer of `custody acceptance --json`');
const { ok, data: report } = JSON.parse(readFileSync(file, 'utf8'));
if (!ok || report.format !== 'custody-acceptance/1') throw new Error(`${file} holds no acceptance report`);

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const words = { passed: 'passed', failed: '**failed**', not_run: 'not run' };
const table = (rows) => [
  '| row | fault | required | observed | verdict |',
  '|---|---|---|---|---|',
  ...rows.map(
    ({ id, fault, required, observed, verdict }) =>
      `| ${[id, fault, required, observed.join('; '), words[verdict]].map(cell).join(' | ')} |`,
  ),
];
const rows = [...report.faults, ...report.verifications];
const missing = rows.filter(({ verdict }) => verdict === 'not_run');

writeFileSync(
  fileURLToPath(new URL('acceptance.md', import.meta.url)),
  [
    '# The last acceptance run',
    '',
    'Written by `npm run acceptance:docs` from a report of `custody acceptance`; measured, not intended. What is intended stands in',
    'the column *required*; what is implemented is what the program did.',
    '',
    `${new Date(report.endedWallMs).toISOString().slice(0, 10)}, Linux ${report.host.kernel}, ${cpus().length} processors, Node ${process.version},`,
    `custody ${report.program.version} (bundles ${report.program.digest.slice(0, 16)}…), guardian ${report.host.guardianDigest.slice(0, 16)}….`,
    '',
    `**${report.verdict === 'ready' ? 'Ready' : 'Not ready'}**: ${rows.filter(({ verdict }) => verdict === 'passed').length} of ${rows.length} rows passed; safety ${words[report.safety]}, progress ${words[report.progress]}.`,
    '*Safety*: nothing was called safe to seal or to reclaim without being so. *Progress*: whatever had ended was known as soon as it',
    'could be observed.',
    '',
    '## The failure matrix',
    '',
    ...table(report.faults),
    '',
    '## Verifications',
    '',
    ...table(report.verifications),
    '',
    '## What was not run',
    '',
    ...(missing.length === 0
      ? ['Everything was.']
      : missing.map(
          ({ id, observed }) => `- ${id}: ${observed.filter((text) => text.includes('not run')).join('; ')}`,
        )),
    '',
  ].join('\n'),
);
