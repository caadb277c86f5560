/** The failure matrix: what is done to the program, and what has to come of it. docs/acceptance.md has the same rows. */

export interface MatrixEntry {
  readonly id: string;
  readonly fault: string;
  readonly required: string;
}

export const faults: readonly MatrixEntry[] = [
  {
    id: 'FAULT-01',
    fault: 'what observes is killed at any instant, also inside a transaction',
    required: 'no part of an event or of a state is left, and the repetition completes it',
  },
  {
    id: 'FAULT-02',
    fault: 'the program is killed between its commit and its reply',
    required: 'the repeated request is answered with the stored outcome, and done once',
  },
  {
    id: 'FAULT-03',
    fault: 'notes come in any order, and more than once',
    required: 'the same end as in order: no second process, nothing comes back, nothing newer is written over',
  },
  {
    id: 'FAULT-04',
    fault: 'several writers and reconcilers at the same moment',
    required: 'of decisions on one version one is made; everybody else is told so, or waits and loses nothing',
  },
  {
    id: 'FAULT-05',
    fault: 'a process is gone, and nobody says so',
    required: 'passes over the kernel end its run, as absent',
  },
  {
    id: 'FAULT-06',
    fault: 'another process has the PID, or the machine was started again',
    required: 'the old run has ended; what lives now is never taken for it',
  },
  {
    id: 'FAULT-07',
    fault: 'procfs cannot be read',
    required: 'unknown, with the reason; asked again ever less often, up to a bound; the run stays what it was',
  },
  {
    id: 'FAULT-08',
    fault: 'the database is busy, locked, full, read-only, gone or damaged',
    required: 'a named error and its exit code each time, never a success that is none',
  },
  {
    id: 'FAULT-09',
    fault: 'what observes ends and begins again, at any instant',
    required: 'it goes on where it was: the same runs, the same place, nobody left out',
  },
  {
    id: 'FAULT-10',
    fault: 'a note of the launcher is lost',
    required: 'a gap is shown, coverage is incomplete, and nothing is made up in its place',
  },
  {
    id: 'FAULT-11',
    fault: 'the parent is dead and a child of it lives',
    required: 'nobody says that nobody writes there: no seal, nothing reclaimable, until there is proof',
  },
  {
    id: 'FAULT-12',
    fault: 'a time limit is over, and whoever it was for is still there',
    required: 'the time alone replaces nobody and seals nothing; only proof does',
  },
];

/** In the order of `verifications` (actors/promotion/acceptanceReport.ts). */
export const verified: readonly MatrixEntry[] = [
  {
    id: 'containment_contract',
    fault: 'work tries to escape from its guardian in every way of the battery',
    required: 'every claim of the containment contract holds on this host, and is recorded',
  },
  {
    id: 'migration',
    fault: 'a worktree of somebody else is taken over',
    required: 'refused without evidence and while their run is there; with evidence a new epoch, and recorded',
  },
  {
    id: 'rollback',
    fault: 'control is given back while something of it is not proved',
    required: 'it waits for the proof, whoever restarts meanwhile, and is handed over then, with a new epoch',
  },
  {
    id: 'retention',
    fault: 'the journal is shortened as far as it goes',
    required: 'runs and their evidence stay as they were; what is sent again changes nothing',
  },
];
