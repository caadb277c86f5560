/** Words that several kinds share. Text that somebody chose (titles, names, reasons) is quoted as JSON and never trusted. */
import type { Assessment } from '../../machines/assessment.ts';
import type { SealBlocker } from '../../machines/worktreeGenerationBlockers.ts';

/** `record_lost` → `record lost`, `drainBlocked` → `drain blocked`. */
export const inWords = (code: string): string =>
  code.replaceAll('_', ' ').replace(/[a-z][A-Z]/g, ([before, letter]) => `${before} ${letter?.toLowerCase()}`);

export const quoted = (text: string): string => JSON.stringify(text);

export const sentence = (text: string): string => {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
};

/** At most so many are named; the others are counted. */
export function listed(items: readonly string[], most = 5): string {
  if (items.length <= most) return items.join(', ');
  return `${items.slice(0, most).join(', ')} and ${items.length - most} more`;
}

const proofs: Readonly<Record<string, string>> = {
  own_receipt: 'its own exit receipt',
  enclosing_receipt: 'the exit receipt of the scope around it',
  boot_epoch: 'a restart of this machine since',
  never_launched: 'the fact that its gate never opened',
};

export const proofInWords = (kind: string): string => proofs[kind] ?? inWords(kind);

/** The verdict of the one assessment, as the end of a sentence that begins with a scope. */
export function verdictInWords(assessment: Assessment): string {
  switch (assessment.state) {
    case 'live':
      return 'is live';
    case 'exited':
      return `is proved to be gone, by ${proofInWords(assessment.proof)}`;
    case 'unverified':
      return assessment.assumed
        ? `is unverified (${inWords(assessment.reason)}), and ${quoted(assessment.assumed.by)} answers for it that nobody of it is left; that is no proof`
        : `is unverified (${assessment.certainty}: ${inWords(assessment.reason)})`;
  }
}

/** What leads out of each blocker of this worktree, and who can bring it. */
export function wayOut({ code, runId, scopeId }: SealBlocker, generationId: string): string {
  switch (code) {
    case 'not_closed':
      return 'an operator closes it (custody worktrees close)';
    case 'quarantined':
      return 'nothing leads out of that; work goes on in another worktree';
    case 'not_managed':
      return 'an operator takes it over with evidence (custody worktrees authority)';
    case 'run_active':
      return `the run has to end (custody explain ${runId})`;
    case 'scope_unproved':
      return `its guardian, the scope around it or another boot has to prove it (custody explain ${scopeId})`;
    case 'scope_missing':
      return `nothing that could be proved is on record of it (custody explain ${runId})`;
    case 'coverage_gap':
      return 'another boot of this machine closes it';
    case 'noted_run':
      // Beyond a bound they are only counted, and none is named.
      return runId === undefined
        ? `their launchers, or looks at their processes, have to say that they ended (custody worktrees show ${generationId})`
        : `its launcher, or a look at its process, has to say that it ended (custody explain ${runId})`;
    case 'contract_unverified':
      return 'the battery has to pass on this host (custody contract verify)';
    case 'contract_covers_other_guardian':
      return 'that guardian would have to pass the battery; its scope stays uncovered otherwise';
  }
}
