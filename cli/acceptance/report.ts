/** What an acceptance run has shown: the report of actors/promotion/acceptanceReport.ts, and as lines. Pure. */
import type { AcceptanceReport, AcceptanceRow, Verdict } from '../../actors/promotion/acceptanceReport.ts';
import { line } from '../print/escape.ts';
import type { Paint, Style } from '../print/style.ts';
import { faults, type MatrixEntry, verified } from './matrix.ts';
import { isJustified, type Judgement, verdictOf } from './row.ts';

/** Why there is no judgement: it was not asked for, or it failed before there was anything to judge. */
export type Outcome = Judgement | 'not_asked' | { readonly code: string };

export type Outcomes = ReadonlyMap<string, Outcome>;

type Heading = Pick<AcceptanceReport, 'program' | 'host' | 'endedWallMs'>;

export function reportOf(heading: Heading, outcomes: Outcomes): AcceptanceReport {
  const rowsOf = (entries: readonly MatrixEntry[]) => entries.map((entry) => rowOf(entry, outcomes.get(entry.id)));
  const [matrix, verifications] = [rowsOf(faults), rowsOf(verified)];
  const judged = [...outcomes.values()].filter((outcome): outcome is Judgement => isJudgement(outcome));
  const isWhole = [...matrix, ...verifications].every(({ id }) => isJudgement(outcomes.get(id)));
  const safety = safetyIn(judged, isWhole);
  const progress = progressIn(judged, isWhole);
  const verdicts = [
    ...matrix.map(({ verdict }) => verdict),
    ...verifications.map(({ verdict }) => verdict),
    safety,
    progress,
  ];
  const verdict = verdicts.every((one) => one === 'passed') ? 'ready' : 'not_ready';
  return { format: 'custody-acceptance/1', ...heading, faults: matrix, verifications, safety, progress, verdict };
}

const isJudgement = (outcome: Outcome | undefined): outcome is Judgement =>
  typeof outcome === 'object' && 'claims' in outcome;

function rowOf(entry: MatrixEntry, outcome: Outcome | undefined): AcceptanceRow {
  if (outcome === undefined || outcome === 'not_asked')
    return { ...entry, observed: ['not run: it was not asked for'], verdict: 'not_run' };
  if (!isJudgement(outcome))
    return { ...entry, observed: [`it could not be seen through: ${outcome.code}`], verdict: 'failed' };
  const observed = outcome.claims.map(({ text, verdict }) => (verdict === 'failed' ? `failed: ${text}` : text));
  return { ...entry, observed, verdict: verdictOf(outcome) };
}

/** What was seen has to be safe in every row; a row that was not seen through may hide what is not. */
function safetyIn(judged: readonly Judgement[], isWhole: boolean): Verdict {
  const said = judged.flatMap(({ eligibility = [] }) => eligibility);
  if (!said.every(isJustified)) return 'failed';
  return isWhole && said.length > 0 ? 'passed' : 'not_run';
}

function progressIn(judged: readonly Judgement[], isWhole: boolean): Verdict {
  const ends = judged.flatMap(({ convergence }) => convergence ?? []);
  if (ends.some(({ ended, converged }) => converged < ended)) return 'failed';
  return isWhole && ends.some(({ ended }) => ended > 0) ? 'passed' : 'not_run';
}

export const failedRows = ({ faults: matrix, verifications }: AcceptanceReport): readonly AcceptanceRow[] =>
  [...matrix, ...verifications].filter(({ verdict }) => verdict === 'failed');

/** Exit status of the command: only what failed is a failure of the program; what was not run is in the verdict. */
export const exitCodeOf = (report: AcceptanceReport): number =>
  failedRows(report).length > 0 || report.safety === 'failed' || report.progress === 'failed' ? 1 : 0;

const words: Readonly<Record<Verdict, string>> = { passed: 'pass', failed: 'FAIL', not_run: 'not run' };

export function acceptanceLines(report: AcceptanceReport, style: Style): string[] {
  const paintOf = (verdict: Verdict): Paint =>
    verdict === 'passed' ? style.green : verdict === 'failed' ? style.red : style.yellow;
  const shown = (verdict: Verdict): string => paintOf(verdict)(words[verdict].padEnd(7));
  const rows = [...report.faults, ...report.verifications];
  const isReady = report.verdict === 'ready';
  return [
    '',
    ...rows.flatMap(({ id, fault, required, observed, verdict }) => [
      `${shown(verdict)}  ${line`${id}: ${fault}`}`,
      style.dim(line`         required  ${required}`),
      ...observed.map((text) => line`         observed  ${text}`),
    ]),
    `${shown(report.safety)}  safety: nothing was called safe without being so`,
    `${shown(report.progress)}  progress: what had ended was known as soon as it could be observed`,
    isReady
      ? style.green('ready')
      : style.yellow(
          `not ready: ${rows.filter(({ verdict }) => verdict !== 'passed').length} of ${rows.length} rows have not passed`,
        ),
  ];
}
