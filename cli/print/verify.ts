/** What the checker found, for people: the figures, the bounds, and every story that ends badly. */
import type { Counterexample } from '../../inspect/verify/counterexample.ts';
import type { JournalReport } from '../../inspect/verify/journal.ts';
import type { ConfigurationVerdict, MutantVerdict } from '../../inspect/verify/verdict.ts';
import type { VerifyReport } from '../../inspect/verify/verify.ts';
import { line } from './escape.ts';
import type { Style } from './style.ts';

const count = (number: number): string => number.toLocaleString('en-US').replaceAll(',', ' ');

export function verifyLines(report: VerifyReport, style: Style): readonly string[] {
  const { states, transitions, depth, seconds, statesPerSecond, violations, mutants } = report;
  return [
    ...report.configurations.flatMap((configuration) => configurationLines(configuration, style)),
    line`${count(states)} distinct joint states, ${count(transitions)} transitions, depth ${depth}, in ${seconds.toFixed(1)} s: ${count(statesPerSecond)} a second`,
    line`${report.invariants.length} invariants, seed ${report.seed}`,
    ...mutantLines(mutants, style),
    ...violations.flatMap((violation) => violationLines(violation, style)),
    violations.length === 0
      ? style.green(line`no invariant is broken${cutShort(report.configurations)}`)
      : style.red(line`${violations.length} broken`),
  ];
}

/** What was not looked at may be broken. */
function cutShort(configurations: readonly ConfigurationVerdict[]): string {
  const whole = configurations.filter(({ exhausted }) => exhausted).length;
  return whole === configurations.length
    ? ''
    : ` as far as was looked; ${whole} of ${configurations.length} were explored whole`;
}

function configurationLines(verdict: ConfigurationVerdict, style: Style): readonly string[] {
  const { name, title, states, depth, seconds, exhausted, atBounds, bounds, violation } = verdict;
  const ending = violation !== null ? 'ended by a violation' : exhausted ? 'all of them' : 'not all: a bound was met';
  const edge = atBounds > 0 ? line`; ${count(atBounds)} lie at the edge of the bounds` : '';
  return [
    `${style.bold(name)}${line`: ${title}`}`,
    line`  ${count(states)} states, depth ${depth}, ${seconds.toFixed(1)} s (${ending}${edge})`,
    ...bounds.map((bound) => style.dim(line`  bound: ${bound}`)),
  ];
}

function mutantLines(mutants: readonly MutantVerdict[], style: Style): readonly string[] {
  if (mutants.length === 0) return [];
  const survivors = mutants.filter(({ killed }) => !killed);
  return [
    line`${mutants.length - survivors.length} of ${mutants.length} mutants are noticed`,
    ...survivors.map(({ mutant, equivalent }) =>
      equivalent === null ? style.red(line`  survives: ${mutant}`) : line`  changes nothing: ${mutant}: ${equivalent}`,
    ),
  ];
}

function violationLines(
  { configuration, invariant, title, story, diagram }: Counterexample,
  style: Style,
): readonly string[] {
  return [
    style.red(line`${invariant} is broken in ${configuration}: ${title}`),
    ...story.map((event, index) => line`  ${index + 1}. ${event}`),
    ...diagram.split('\n').map((text) => line`  ${text}`),
  ];
}

export function journalLines(report: JournalReport, style: Style): readonly string[] {
  const { events, replayed, actors, unreplayable, damaged, commits, invariants, findings } = report;
  return [
    line`${count(replayed)} of ${count(events)} events of ${count(actors)} actors were replayed, in ${count(commits)} commits`,
    ...(damaged > 0 ? [style.red(line`${count(damaged)} rows are damaged (custody doctor)`)] : []),
    ...(unreplayable > 0
      ? [line`${count(unreplayable)} belong to actors whose history is not whole here, and were not judged`]
      : []),
    line`${invariants.length} invariants`,
    ...findings.map(({ position, actor, type, invariant, detail }) =>
      style.red(line`${position} ${actor} ${type}: ${invariant}: ${detail}`),
    ),
    judgement(report, style),
  ];
}

function judgement({ findings, replayed, unreplayable }: JournalReport, style: Style): string {
  if (findings.length > 0) return style.red(line`${findings.length} findings`);
  if (replayed === 0) return style.yellow('nothing was replayed, so nothing is known of the invariants');
  return style.green(unreplayable > 0 ? 'no invariant is broken by what was replayed' : 'no invariant is broken');
}
