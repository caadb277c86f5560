/**
 * A row of the acceptance run: what it does is kept apart from what it makes of it. The judgement is pure, so that a table can
 * ask whether a fault that is not withstood is called one.
 */
import type { Verdict } from '../../actors/promotion/acceptanceReport.ts';
import type { Drilling } from '../drill/drill.ts';
import type { Random } from './random.ts';

export interface Trying extends Drilling {
  readonly random: Random;
  /** SIGKILLs of each row that kills. */
  readonly kills: number;
  /** Undoes something when the row is over, however it ends; the last one first. */
  readonly atEnd: (undo: () => unknown) => void;
}

/** One sentence of our own, with counts in it, and whether what it says is what is required. */
export interface Claim {
  readonly text: string;
  readonly verdict: Verdict;
}

/** Whether something was said to be safe to seal or to reclaim, and whether it was, as others than the program can tell. */
export interface Eligibility {
  readonly eligible: boolean;
  readonly justified: boolean;
}

/** Of how many that had ended, and could be observed, that was known in the end. */
export interface Convergence {
  readonly ended: number;
  readonly converged: number;
}

export interface Judgement {
  readonly claims: readonly Claim[];
  readonly eligibility?: readonly Eligibility[];
  readonly convergence?: Convergence;
}

export interface Row {
  readonly id: string;
  readonly run: (trying: Trying) => Promise<Judgement>;
}

export const row = <Seen>(
  id: string,
  observe: (trying: Trying) => Promise<Seen>,
  judge: (seen: Seen) => Judgement,
): Row => ({ id, run: async (trying) => judge(await observe(trying)) });

export const claim = (text: string, holds: boolean): Claim => ({ text, verdict: holds ? 'passed' : 'failed' });

/** What this machine, or who calls, did not allow; it is never taken for passed. */
export const notRun = (text: string): Claim => ({ text, verdict: 'not_run' });

/** As safe as it was said to be, and no more: the program may always say no. */
export const isJustified = ({ eligible, justified }: Eligibility): boolean => !eligible || justified;

/** Nothing that was said is a failure of its own: what had to be said is another claim. */
export const saidSafely = (said: readonly Eligibility[]): Claim =>
  claim(
    `${said.filter(isJustified).length} of ${said.length} ${said.length === 1 ? 'statement' : 'statements'} as safe as they say`,
    said.every(isJustified),
  );

export const verdictOf = ({ claims }: Judgement): Verdict => {
  if (claims.some(({ verdict }) => verdict === 'failed')) return 'failed';
  return claims.length === 0 || claims.some(({ verdict }) => verdict === 'not_run') ? 'not_run' : 'passed';
};
