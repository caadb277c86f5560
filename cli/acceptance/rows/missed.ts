/** FAULT-10: of each kind of note one is lost, as a full disk loses it; and one that was about a worktree. */
import { ObserverPlace } from '../observerPlace.ts';
import { claim, type Eligibility, isJustified, type Judgement, row, type Trying } from '../row.ts';
import { lookIn, type RunSeen } from '../storeLook.ts';
import { subject } from '../subject.ts';
import { foreignWorktree } from '../worktree.ts';

export interface Dropped {
  readonly kind: string;
  /** Notes that are called lost, and gaps that are shown. */
  readonly lost: number;
  readonly gaps: number;
  /** The worktree that it may have been about is called incompletely covered. */
  readonly isIncomplete: boolean;
  /** What only the lost note had told stands nowhere. */
  readonly isMadeUp: boolean;
}

export interface Missed {
  readonly dropped: readonly Dropped[];
  readonly predictions: readonly Eligibility[];
}

/** A launcher's order, with what nobody knows who has not heard it. */
const kinds: readonly (readonly [kind: string, isTold: (run: RunSeen) => boolean])[] = [
  ['reserve', ({ label }) => label !== null],
  ['bind', ({ pid }) => pid !== null],
  ['worktree', ({ generationId }) => generationId !== null],
  ['exit', ({ exitCode }) => exitCode !== null],
];

async function observe(trying: Trying): Promise<Missed> {
  const path = await foreignWorktree(trying, 'missed');
  const dropped: Dropped[] = [];
  for (const [nth, [kind, isTold]] of kinds.entries()) {
    const place = new ObserverPlace(trying, `missed-${kind}`);
    const { pid } = await subject(trying);
    await place.note('reserve', 'job', '--label', 'a job');
    await place.note('bind', 'job', '--pid', String(pid));
    await place.note('worktree', 'job', path);
    await place.note('exit', 'job', '--code', '3');
    // A number above the last note may still be on its way; this one makes it certain.
    await place.note('reserve', 'another', '--worktree', path);
    place.loseNote('shell', nth);
    const { data } = await place.observe(['ingest']);
    const coverage = (await place.observe(['coverage'])).data;
    const [run] = (await lookIn(place.stateDir)).runs;
    dropped.push({
      kind,
      lost: data?.lost ?? 0,
      gaps: coverage?.gaps.length ?? 0,
      isIncomplete: coverage?.worktrees.some((worktree) => worktree.class === 'incomplete') ?? false,
      isMadeUp: run === undefined || isTold(run),
    });
  }
  return { dropped, predictions: [await withGap(trying)] };
}

/** Where a note may have been about this very worktree, it is not to be called safe. */
async function withGap(trying: Trying): Promise<Eligibility> {
  const { installation, repository, scratch } = trying;
  const path = await foreignWorktree(trying, 'missed-beside');
  const { generationId: id } = await installation.call('worktrees.register', { path });
  const voice = new ObserverPlace(trying, 'missed-voice');
  const say = (...words: readonly string[]) => voice.note(...words, '--producer', 'missed');
  await say('reserve', 'lost', '--worktree', path);
  await say('reserve', 'told', '--worktree', repository);
  const [, told] = voice.spooled('missed');
  // Where the daemon has the store, it is the daemon that takes them in.
  const settings = { env: { CUSTODY_HOME: scratch.places.stateDir }, input: told! };
  await voice.observe(['ingest', '-'], settings);
  const { eligible } = await installation.call('worktrees.predict', { id, allowUnseen: true });
  return { eligible, justified: false };
}

export function judgeMissed({ dropped, predictions }: Missed): Judgement {
  return {
    claims: [
      ...dropped.map(({ kind, lost, gaps, isIncomplete, isMadeUp }) =>
        claim(
          `without its ${kind}: ${lost} lost, ${gaps} gap shown, coverage ${isIncomplete ? 'incomplete' : 'not in doubt'}, ${isMadeUp ? 'something' : 'nothing'} made up`,
          lost === 1 && gaps === 1 && isIncomplete && !isMadeUp,
        ),
      ),
      claim(
        `a worktree that a lost note may have been about: ${predictions.some(({ eligible }) => eligible) ? 'reclaimable' : 'not reclaimable'}`,
        predictions.length > 0 && predictions.every(isJustified),
      ),
    ],
    eligibility: predictions,
  };
}

export const missedRow = row('FAULT-10', observe, judgeMissed);
