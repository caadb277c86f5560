/**
 * What a note means for the actors (INT-04, RUN-05…08): a pure decision over the note and what is known. Nothing that was
 * not told is filled in; what is missing of a run stands in its gaps.
 */
import { identityDigest, type ProcessIdentity } from '../../machines/identity.ts';
import type { GenerationId, RunId } from '../../machines/ids.ts';
import type { Note } from '../../machines/note.ts';
import { placeMissing, reserveMissing } from '../../machines/run.ts';
import type { Draft } from '../host/outcome.ts';
import type { LinuxAdapter } from '../observe/linux/adapter.ts';
import { draft } from '../runtime/submission.ts';
import { runIdOf } from './names.ts';

/** Where a note says that its run works, as a generation. */
export interface Placing {
  readonly generationId: GenerationId;
  /** This program controls it, so that nobody else's run can be noted there (PROMO-01). */
  readonly isControlledHere: boolean;
  /** What registers it, when it is not known yet, or tells it of a stranger, when it is controlled here. */
  readonly drafts: readonly Draft[];
}

export interface KnownRun {
  readonly generationId: GenerationId | null;
}

export interface Telling {
  readonly installationId: string;
  /** Of the run that the note is about (names.ts). */
  readonly runId: RunId;
  /** The process that the note binds (`identityOf`); undefined for every other note. */
  readonly identity: ProcessIdentity | undefined;
  /** Undefined: nothing is known of the run. */
  readonly known: KnownRun | undefined;
  /** Undefined where the note names no place. */
  readonly placing: Placing | undefined;
}

/** The run works where this program is in control; it is known, and stands in no generation. */
const controlledHere = 'place_controlled_here';
const by = 'launcher-adapter';

export interface Told {
  readonly runId: RunId;
  readonly drafts: readonly Draft[];
  /** What is known of the run once the drafts are committed. */
  readonly after: KnownRun;
}

export function told(note: Note, { installationId, runId, identity, known, placing }: Telling): Told {
  const about: About = { note, runId, placing, retryOf: retryOf(note, installationId) };
  return {
    runId,
    drafts: [...(known ? placed(about, known) : created(about)), ...stated(note, runId, identity)],
    after: { generationId: known?.generationId ?? placeOf(placing) },
  };
}

interface About {
  readonly note: Note;
  readonly runId: RunId;
  readonly placing: Placing | undefined;
  readonly retryOf: RunId | null;
}

const placeOf = (placing: Placing | undefined): GenerationId | null =>
  placing === undefined || placing.isControlledHere ? null : placing.generationId;

function retryOf(note: Note, installationId: string): RunId | null {
  if (note.type !== 'run.reserve' || note.retryOf === null) return null;
  return runIdOf({ installationId, producer: note.producer, run: note.retryOf });
}

function created({ note, runId, placing, retryOf }: About): Draft[] {
  const generationId = placeOf(placing);
  const gaps = [
    ...(note.type === 'run.reserve' ? [] : [reserveMissing]),
    ...(generationId === null ? [placing ? controlledHere : placeMissing] : []),
  ];
  const payload = {
    runId,
    generationId,
    goalRef: null,
    mode: 'observe',
    rootScopeId: null,
    label: note.type === 'run.reserve' ? note.label : null,
    retryOf,
    origin: 'observed',
    gaps,
    launcher: { producer: note.producer, run: note.run },
  } as const;
  return [
    ...(placing?.drafts ?? []),
    draft('run.reserved', { to: ['run', runId], payload: { ...payload, gaps }, by }),
    ...noted(runId, generationId),
  ];
}

/** What a later note adds to a run that is known. A second place is told, and refused by the chart. */
function placed({ note, runId, placing, retryOf }: About, known: KnownRun): Draft[] {
  const drafts: Draft[] = [];
  if (note.type === 'run.reserve') {
    const payload = { label: note.label, retryOf };
    drafts.push(draft('reservation.reported', { to: ['run', runId], payload, by }));
  }
  const generationId = placeOf(placing);
  if (placing === undefined) return drafts;
  if (generationId === null) return [...placing.drafts, ...drafts];
  if (note.type !== 'run.place' && known.generationId === generationId) return drafts;
  return [
    ...placing.drafts,
    ...drafts,
    // Noted first: a run that is over already says so there as soon as it is placed.
    ...noted(runId, generationId),
    draft('run.placed', { to: ['run', runId], payload: { generationId }, by }),
  ];
}

const noted = (runId: RunId, generationId: GenerationId | null): Draft[] =>
  generationId === null
    ? []
    : [
        draft('run.noted', {
          to: ['worktreeGeneration', generationId],
          payload: { runId, origin: 'observed' },
          by,
        }),
      ];

function stated(note: Note, runId: RunId, identity: ProcessIdentity | undefined): Draft[] {
  if (identity !== undefined) return [boundDraft(runId, identity, by)];
  if (note.type !== 'run.exit') return [];
  const payload = { exitCode: note.code, signal: note.signal, reporter: note.producer };
  return [draft('exit.reported', { to: ['run', runId], payload, by })];
}

/** A process outside of every scope is the run, by what was read of it while it lived (RUN-02, ID-07). */
export function boundDraft(runId: RunId, identity: ProcessIdentity, by: string): Draft {
  const payload = {
    identity,
    identityDigest: identityDigest(identity),
    verified: true,
    source: 'entrypoint',
    scopeId: null,
  } as const;
  return draft('identity.bound', { to: ['run', runId], payload, by });
}

/** The process that a note binds. The launcher read it while the process lived (ID-07). */
export function identityOf(note: Note, adapter: Pick<LinuxAdapter, 'identityFrom'>): ProcessIdentity | undefined {
  if (note.type !== 'run.bind') return undefined;
  const { pid, start, uid, pidns, timens, pidfs } = note.process;
  const { bootId } = note.at;
  return adapter.identityFrom({ bootId, pidns, timens, uid }, { pid, start, pidfs });
}
