/**
 * How a state is to be taken, apart from what it is called. A tone is a colour and a sign: who cannot tell the colours
 * apart reads the sign, who hears the page gets the word of the state itself.
 */
import type { ActorRow, AssessmentView } from '../../server/contract.ts';

export type Tone = 'live' | 'waiting' | 'warn' | 'bad' | 'done' | 'idle';

export const signOf: Readonly<Record<Tone, string>> = {
  live: '●',
  waiting: '◐',
  warn: '▲',
  bad: '✕',
  done: '✓',
  idle: '○',
};

/** Worst first: what a person should see before the rest. */
export const toneRank: Readonly<Record<Tone, number>> = { bad: 0, warn: 1, waiting: 2, live: 3, idle: 4, done: 5 };

const byState: readonly (readonly [RegExp, Tone])[] = [
  [/failed|stalled|conflicted|corrupt|refused/i, 'bad'],
  [/^unknown$|unverified|unresolved|indeterminate|unresponsive|gap\b|suspect|incomplete|unrecorded/i, 'warn'],
  [/reserved|requested|launching|starting|gated|closing|quiescing|signalling|awaiting|ending|pending/i, 'waiting'],
  [/review|draining|needsInput|stopping|rescanning|permitted|leased|begun|publishing/i, 'waiting'],
  // How something ended is not said by its state.
  [/\b(ended|finished|final)$/i, 'idle'],
  [/unsettled|backlog|todo|notReleased|cancelled|neverLaunched|retired|absent|idle/i, 'idle'],
  [/done|proved|exited|sealed|settled|complete/i, 'done'],
];

/** Of one leaf state such as `coverage.unverified.gap`. */
export function toneOfState(state: string): Tone {
  return byState.find(([pattern]) => pattern.test(state))?.[1] ?? 'live';
}

/** The regions that say how an actor fares; the others say how far something in it has come. */
const deciding: Readonly<Record<string, RegExp>> = {
  goal: /^(workflow|convergence\.conflicted)/,
  run: /^lifecycle/,
  worktreeGeneration: /^(lifecycle|authority\.quiescing)/,
  executionScope: /^(coverage|termination\.(stalled|signalling|quiescing|awaitingProof))/,
  ptySession: /^(workload|capture\.(lost|incomplete|failed))/,
};

/** Ten thousand actors are in some dozen states. */
const known = new Map<string, Tone>();

type Judged = Pick<ActorRow, 'kind' | 'state' | 'status' | 'outcome' | 'unproved'>;

export function toneOf(row: Judged): Tone {
  if (row.status === 'corrupt') return 'bad';
  const ended = row.kind === 'executionScope' ? undefined : toneOfEnd(row);
  return ended ?? toneOfStates(row);
}

/** How it ended counts before that it did; undefined where nothing is known of an end. */
export function toneOfEnd({ outcome, unproved }: Pick<ActorRow, 'outcome' | 'unproved'>): Tone | undefined {
  if (outcome?.failed) return 'bad';
  if (unproved) return 'warn';
  return outcome === null ? undefined : 'done';
}

/** `exit 3`, `exit 0, not proved`; empty where nothing is known of an end. */
export const endWords = ({ outcome, unproved }: Pick<ActorRow, 'outcome' | 'unproved'>): string =>
  [outcome?.words, unproved ? 'not proved' : undefined].filter(Boolean).join(', ');

function toneOfStates(row: Pick<ActorRow, 'kind' | 'state'>): Tone {
  const key = `${row.kind} ${row.state.join(' ')}`;
  let tone = known.get(key);
  if (tone === undefined) {
    tone = judge(row);
    known.set(key, tone);
  }
  return tone;
}

function judge(row: Pick<ActorRow, 'kind' | 'state'>): Tone {
  const pattern = deciding[row.kind] ?? /./;
  const tones = row.state.filter((state) => pattern.test(state)).map(toneOfState);
  const worst = tones.sort((a, b) => toneRank[a] - toneRank[b])[0] ?? 'idle';
  // A worktree that stands open is there, not at work.
  if (row.kind === 'worktreeGeneration' && worst === 'live') return 'idle';
  return worst;
}

export function toneOfAssessment(assessment: AssessmentView): Tone {
  if (assessment.state === 'live') return 'live';
  if (assessment.state === 'exited') return 'done';
  return assessment.certainty === 'gap' && assessment.assumed === undefined ? 'bad' : 'warn';
}

export const toneOfHealth: Readonly<Record<string, Tone>> = {
  ok: 'done',
  unresponsive: 'warn',
  ownership_unverified: 'bad',
  degraded: 'bad',
};
