/**
 * What each guard of the charts asks, as clauses that a page, `explain` and a refusal can put into a sentence. A test holds
 * the table to the charts: no guard without a sentence, and no sentence without its guard.
 */
import type { ActorKind } from './ids.ts';

export interface GuardSentence {
  /** What is so where the guard answers yes: a clause without a full stop. */
  readonly holds: string;
  /** What is so where it answers no. */
  readonly fails: string;
  /** Id of the requirement that wants it asked. */
  readonly requirement: string | null;
}

const says = (holds: string, fails: string, requirement: string | null = null): GuardSentence => ({
  holds,
  fails,
  requirement,
});

type Sentences = Readonly<Record<string, GuardSentence>>;

const selects = (step: string) =>
  says(`the decision names ${step} as the next step`, `the decision names another step than ${step}`, 'SEL-02');

const goal: Sentences = {
  requestNonEmpty: says('the Round asks for something', 'the Round has an empty request', 'GOAL-02'),
  hasAuthoredRound: says(
    'the current Round was authored and is not empty',
    'there is no authored, non-empty Round to work on',
    'GOAL-02',
  ),
  revisionExpected: says(
    'the decision was made on the present revision of the Goal',
    'the Goal was changed after the revision that the decision was made on',
    'JRN-06',
  ),
  selectsCurrentStep: says('the Goal is at that step already', 'the Goal is at another step', 'SEL-01'),
  selectsBacklog: selects('backlog'),
  selectsTodo: selects('todo'),
  selectsPlan: selects('plan'),
  selectsImplement: selects('implement'),
  selectsQuality: selects('quality'),
  selectsGovernance: selects('governance'),
  assignsOtherNode: says('the Goal moves to another node', 'the Goal belongs to that node already', 'SYNC-03'),
  occurrenceNewer: says(
    'the imported record has a larger occurrence, with a boundary that is not ahead of it',
    'the imported record is no newer than the one here',
    'OCC-01',
  ),
  hasBasis: says(
    'the worker says which attempt at this Goal it speaks of',
    'the worker names no attempt at this Goal',
    'OCC-02',
  ),
  basisCurrent: says(
    'occurrence, step, node and Round are still those that the worker began with',
    'the Goal has moved on from the occurrence, step, node or Round that the worker began with',
    'OCC-03',
  ),
  claimCurrent: says(
    'the worker holds the present claim',
    'another claim has replaced that of the worker, or there is none',
    'RCPT-06',
  ),
  isNextStep: says(
    'the named step follows the present one',
    'the named step does not follow the present one',
    'OCC-01',
  ),
  acceptedReceipt: says(
    'an accepted receipt of this occurrence, on the same inputs, is recorded already',
    'no accepted receipt of this occurrence and on these inputs is recorded',
    'GOAL-08',
  ),
  noVerdictYet: says('this occurrence has no verdict yet', 'this occurrence has its verdict', 'RCPT-06'),
  verdictFailed: says('the verdict is that it failed', 'the verdict is that it was accepted', 'RCPT-03'),
  reuseSound: says(
    'whatever evidence is adopted is on record for this Round, with the same kind, verdict and inputs',
    'the evidence that is to be adopted is not on record for this Round and these inputs',
    'GOAL-06',
  ),
  effectOpen: says('that side effect was begun and has not reported', 'no such side effect is open', 'OCC-04'),
  candidateExact: says(
    'the candidate to integrate is the recorded one',
    'another candidate than the recorded one is to be integrated',
    'OCC-06',
  ),
  attemptMatches: says(
    'it is about the present attempt at integrating',
    'it is about another attempt at integrating',
    'I-11',
  ),
  leaseCurrent: says('the lease was taken in this occurrence', 'the lease was taken in an earlier occurrence', 'I-11'),
  attemptServesCandidate: says(
    'what was merged here is the candidate of the current Round',
    'what was merged here is not the candidate of the current Round',
    'OCC-06',
  ),
  integrationMatchesCandidate: says(
    'the candidate of the current Round is integrated and published',
    'the candidate of the current Round is not integrated and published yet',
    'I-13',
  ),
};

const run: Sentences = {
  identityVerified: says(
    'the identity was verified at the entry point',
    'the identity was not verified at the entry point',
    'RUN-02',
  ),
  identitySame: says(
    'it is the very process that is bound already',
    'it is another process than the bound one',
    'RUN-02',
  ),
  managed: says('this program has launched the run', 'somebody else has launched the run', 'RUN-04'),
  isObserved: says('somebody else has launched the run', 'this program has launched the run', 'RUN-08'),
  missesReservation: says(
    'the run became known without its reservation',
    'the reservation of the run is on record',
    'RUN-08',
  ),
  sameReservation: says(
    'the reservation says what is on record',
    'the reservation contradicts the one on record',
    'CONC-04',
  ),
  hasNoPlace: says('no worktree is known for the run', 'the run has a worktree', 'BIND-04'),
  samePlace: says('it is the worktree on record', 'the run belongs to another worktree, and never moves', 'BIND-04'),
  gateNeverOpened: says(
    'it is proved of the own scope that its gate never opened',
    'that the gate of the own scope never opened is not proved',
    'RUN-04',
  ),
  observedEnded: says(
    'a stable sample says that the process is gone',
    'no stable sample says that the process is gone',
    'RUN-03',
  ),
  claimsEnded: says(
    'the sample says that the process is gone',
    'the sample does not say that the process is gone',
    'RUN-03',
  ),
  sampleBasisCurrent: says(
    'the sample looked for the process that is bound now',
    'the sample looked for another process, or for an earlier binding',
    'CONC-03',
  ),
  receiptNamesProcess: says(
    'an authentic receipt of the own scope names the bound process under this boot',
    'the receipt is not authentic, or is about another process, scope or boot',
    'RUN-03',
  ),
  rootScope: says('the proof is about the own scope', 'the proof is about another scope', 'RUN-03'),
};

const worktreeGeneration: Sentences = {
  notAdmitted: says('the run is new here', 'the run is on record here already', 'BIND-04'),
  admitted: says('the run was admitted here', 'the run was never admitted here', 'WT-04'),
  isNoted: says('the run was noted here', 'nobody has noted the run here', 'INT-07'),
  scopeNew: says(
    'the scope is new and belongs to an admitted run',
    'the scope is on record already, or its run was never admitted here',
    'WT-04',
  ),
  scopeKnown: says('the scope was opened here by that run', 'no such scope of that run was opened here', 'WT-04'),
  gapProof: says(
    'an open gap is closed by a boot change or an authentic receipt',
    'no such gap is open, or its end is not proved by a boot change or an authentic receipt',
    'WT-04',
  ),
  allSettled: says(
    'every admitted run is over, and each of its scopes is proved to be gone',
    'an admitted run is not over, or a scope of it is missing or not proved to be gone',
    'WT-04',
  ),
  noUntracked: says('no coverage gap is open', 'a coverage gap is open: somebody may have come unseen', 'WT-04'),
  notedResolved: says(
    'no run that was only noted is open',
    'a run that was only noted is not known to be over',
    'INT-09',
  ),
  contractVerified: says(
    'the containment of this host was verified for every guardian that was used',
    'the containment of this host was not verified for every guardian that was used',
    'PROMO-06',
  ),
  receiptVerified: says(
    'the receipt of the executor was verified',
    'the receipt of the executor was not verified',
    'WT-05',
  ),
  receiptForThisSeal: says(
    'the receipt is for this worktree and this seal',
    'the receipt is for another worktree or seal',
    'WT-07',
  ),
  newGeneration: says(
    'nobody has worked or could have worked here under somebody else',
    'the worktree was in use before, so that taking it over needs a migration',
    'PROMO-04',
  ),
  migrationContract: says(
    'the migration was verified and brings its evidence',
    'the migration was not verified, or brings no evidence',
    'INT-09',
  ),
};

const executionScope: Sentences = {
  isOwn: says('this program has launched the scope', 'somebody else has launched the scope, and ends it', 'INT-02'),
  hasResidents: says(
    'somebody was declared who may outlive the root',
    'nobody was declared who may outlive the root',
    'OWN-02',
  ),
  platformCovered: says('a guardian can cover the scope', 'no guardian covers the scope', 'GRD-11'),
  neverReleased: says(
    'no release of the gate was ever committed',
    'a release of the gate was committed, or there was no gate of ours',
    'GRD-07',
  ),
  guardianGone: says('the guardian is known to be gone', 'the guardian is not known to be gone', 'REPL-02'),
  receiptAuthentic: says(
    'the receipt lies in its reserved slot and names the recorded processes and boot',
    'the receipt is not the one that was reserved for the recorded processes and boot',
    'GRD-05',
  ),
  receiptComplete: says('the receipt is complete', 'the receipt is not complete', 'GRD-04'),
  epochUniform: says(
    'everything on record is of one boot, and the machine runs under another one now',
    'the machine still runs under the boot of the scope, or more than one boot is on record',
    'OWN-05',
  ),
  observedAlive: says('the guardian was seen alive', 'the guardian was not seen alive', 'OWN-09'),
  observedAbsent: says('the guardian was seen to be gone', 'the guardian was not seen to be gone', 'GRD-10'),
  notAssumed: says(
    'nobody answers yet for it that nobody is left',
    'somebody answers for it already that nobody is left',
    'OWN-05',
  ),
  inForeignNamespace: says(
    'its processes have numbers of another PID namespace, so that nobody can look here',
    'its processes can be looked for from here',
    'ID-06',
  ),
  noGap: says('coverage was never lost', 'coverage was lost, which no later sight of life repairs', 'OWN-09'),
  enclosingContains: says(
    'the complete, original receipt of the enclosing scope contains this one and every witness of it',
    'the receipt of the enclosing scope does not vouch for this one',
    'REPL-02',
  ),
  noSurvivors: says('nobody of it is among the survivors', 'somebody of it survived the enclosing scope', 'REPL-02'),
  notCommitted: says(
    'no publication that has begun would be cut off',
    'a publication has begun, and a drain for this cause waits for it',
    'OCC-05',
  ),
};

const ptySession: Sentences = {
  deadlineStillDue: says(
    'nothing has happened since that would have moved the deadline',
    'the deadline is not the one that is armed now',
    'PTY-09',
  ),
  schemaValid: says('the result fits its schema', 'the result does not fit its schema', 'PTY-03'),
  statusAuthentic: says(
    'the status is authentic and of the own scope',
    'the status is not authentic, or of another scope',
    'PTY-02',
  ),
  isUnrecorded: says(
    'the end marker was read, and by choice nothing is kept',
    'the end marker was not read, or output is kept',
    'PRIV-02',
  ),
  captureEof: says('the end marker was read', 'reading ended before the end marker', 'PTY-07'),
  scopeMatches: says('it is about the own scope', 'it is about another scope', 'PTY-01'),
};

const workerIncarnation: Sentences = {
  tokenMatches: says(
    'the registered process brings token, registration and scope of this launch',
    'token, registration, scope or sender are not those of this launch',
    'WRK-01',
  ),
  tickExact: says(
    'the tick is of this very worker, and newer than the last one',
    'the tick is of somebody else, or no newer than the last one',
    'WRK-02',
  ),
  tickTargetCurrent: says('the tick is about the current target', 'the tick is about an earlier target', 'WRK-02'),
  startupStillDue: says(
    'it has not ticked within the time that it may take to begin',
    'the deadline for its beginning is no longer armed',
    'WRK-06',
  ),
  silenceStillDue: says(
    'it has not ticked within the time that it may be silent',
    'a tick or a change of target has moved the deadline',
    'WRK-06',
  ),
  isOtherTarget: says('the target is a new one', 'it serves that target already', 'WRK-06'),
  scopeMatches: says('it is about the own scope', 'it is about another scope', 'WRK-05'),
};

const recoveryFence: Sentences = {
  isOldGone: says(
    'the worker that was launched last has ended, with proof, and no other is left',
    'that the worker that was launched last is gone is not proved',
    'REC-02',
  ),
  hasOneOld: says('exactly one earlier worker is left', 'not exactly one earlier worker is left', 'I-24'),
  hasNoOld: says('no earlier worker is left', 'an earlier worker may be left', 'REC-02'),
  isOldScope: says(
    'it is the scope of the worker to be replaced',
    'it is another scope than that of the worker to be replaced',
    'REC-02',
  ),
  isReplacementScope: says(
    'it is the scope of the replacement',
    'it is another scope than that of the replacement',
    'REC-02',
  ),
  isOldSettled: says(
    'the earlier worker is proved to be gone, or there was none',
    'the earlier worker is not proved to be gone',
    'REC-04',
  ),
  everyScopeProved: says(
    'everything that earlier workers launched was looked at and is proved to be gone',
    'something that an earlier worker launched is live, unverified or was not looked at',
    'REC-04',
  ),
  notOld: says(
    'the replacement is not the worker that it replaces',
    'it is the very worker that is to be replaced',
    'I-24',
  ),
  admissionEnabled: says('workers are wanted', 'workers are switched off', 'REPL-07'),
  tickFromReplacement: says('the tick is of the replacement', 'the tick is of another worker', 'REPL-07'),
};

const sentences: Readonly<Record<ActorKind, Sentences>> = {
  goal,
  run,
  worktreeGeneration,
  executionScope,
  ptySession,
  workerIncarnation,
  recoveryFence,
};

/** The guards that have a sentence. */
export const guardsWithSentence = (kind: ActorKind): readonly string[] => Object.keys(sentences[kind]);

/**
 * The clauses of one guard by its name in the chart. A condition on another region, `in region.state`, has them as well.
 * Throws RangeError for a name that no chart of the kind has.
 */
export function guardSentence(kind: ActorKind, guard: string): GuardSentence {
  const found = Object.hasOwn(sentences[kind], guard) ? sentences[kind][guard] : undefined;
  if (found !== undefined) return found;
  const state = /^in ([\w.]+)$/.exec(guard)?.[1];
  if (state === undefined) throw new RangeError(`no guard ${guard} in the chart of a ${kind}`);
  const [region = state, ...path] = state.split('.');
  const where = path.length === 0 ? `state ${region}` : `${region} at ${path.join('.')}`;
  return { holds: `it has ${where}`, fails: `it does not have ${where}`, requirement: null };
}
