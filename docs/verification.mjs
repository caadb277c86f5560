// `npm run verify:docs -- FILE` writes docs/verification.md from what `custody verify --json` has printed into FILE. It belongs on
// the machine on which that was, because a report does not say how many processors there are.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { fileURLToPath } from 'node:url';

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('name the file that holds the answer of `custody verify --json`');
const { ok, data: report } = JSON.parse(readFileSync(file, 'utf8'));
if (!ok || report.format !== 'custody-verify/1') throw new Error(`${file} holds no report of custody verify`);

const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
const row = (...cells) => `| ${cells.map(cell).join(' | ')} |`;
const count = (number) => number.toLocaleString('en-US').replaceAll(',', ' ');
const killed = report.mutants.filter(({ killed }) => killed).length;
const verdict = ({ killed, equivalent }) =>
  killed ? 'noticed' : equivalent === null ? '**survives**' : 'changes nothing';
const ending = ({ violation, exhausted }) => (violation !== null ? '**violation**' : exhausted ? 'all' : 'not all');

writeFileSync(
  fileURLToPath(new URL('verification.md', import.meta.url)),
  [
    '# The last verification',
    '',
    'Written by `npm run verify:docs` from a report of `custody verify --json`; measured, not intended.',
    '',
    `${new Date().toISOString().slice(0, 10)}, Linux ${release()}, ${cpus().length} processors, Node ${process.version}, seed ${report.seed}: **${count(report.states)} distinct joint states**, ${count(report.transitions)} transitions,`,
    `depth ${report.depth}, in ${report.seconds.toFixed(0)} s (${count(report.statesPerSecond)} joint states a second); ${report.violations.length} violations; ${killed} of ${report.mutants.length} mutants noticed.`,
    `${report.configurations.filter(({ exhausted }) => exhausted).length} of ${report.configurations.length} configurations were explored whole. Several run at a time, so their seconds add up to more.`,
    '',
    'A joint state is what is recorded of every actor, which effects were committed, and what is true of the processes. A word may',
    'be said whenever its sender could say it, as often as it likes and long after: loss, repetition, another order, a crash between',
    'an act and its record, and a restarted daemon are all in that. Forgeries may be said at any time. Event ids are not remembered,',
    'so a repeat is applied again, which is worse than what the host does.',
    '',
    'Ids such as I-22, OWN-06, JRN-05, C.11 or ruling 4 are those of the ownership contract from which the charts were made. Its text is not',
    'in this repository; what each of them asks stands beside it here in other words.',
    '',
    '## Configurations',
    '',
    '| name | what it is | joint states | depth | seconds | explored |',
    '|---|---|---|---|---|---|',
    ...report.configurations.map((one) =>
      row(one.name, one.title, count(one.states), one.depth, one.seconds.toFixed(1), ending(one)),
    ),
    '',
    '## Bounds',
    '',
    ...report.configurations.flatMap(({ name, bounds }) => bounds.map((bound) => `- ${name}: ${bound}`)),
    '',
    '## Invariants',
    '',
    '| id | what holds | configurations |',
    '|---|---|---|',
    ...report.invariants.map(({ id, title, configurations }) => row(id, title, configurations.join(', '))),
    '',
    'Tested elsewhere, because they speak of the host and not of the charts:',
    '',
    ...Object.entries(report.testedElsewhere).map(([id, where]) => `- ${id}: ${where}`),
    '',
    '## Mutants',
    '',
    'One guard that always gives the same answer, or one relay that is never delivered.',
    '',
    '| mutant | verdict | configuration | invariant | events |',
    '|---|---|---|---|---|',
    ...report.mutants.map((one) =>
      row(
        `\`${one.mutant}\``,
        verdict(one),
        one.configuration ?? '',
        one.invariant ?? one.equivalent ?? '',
        one.killed ? one.story.length : '',
      ),
    ),
    '',
  ].join('\n'),
);
