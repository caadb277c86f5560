/**
 * From a launcher's own name for a run to the id of its actor: always the same one, so that a note that is taken in twice,
 * or by two processes, means the same run, and no table of names has to survive.
 */
import type { GenerationId, RunId } from '../../machines/ids.ts';
import type { Note } from '../../machines/note.ts';
import { derivedId } from '../runtime/derivedIds.ts';

export interface NamedRun {
  readonly installationId: string;
  readonly producer: string;
  /** As the launcher calls it. */
  readonly run: string;
}

/** 80 bits: two names meet by chance only among many more runs than any store holds. */
const digits = 16;

export const runIdOf = ({ installationId, producer, run }: NamedRun): RunId =>
  derivedId({ letter: 'R', digits, of: [installationId, 'observed', producer, run] });

/** The generation that a note registers, should its place be none that is known. */
export const generationIdOf = (installationId: string, { producer, stream, seq }: Note): GenerationId =>
  derivedId({ letter: 'W', digits, of: [installationId, 'observed', producer, stream, String(seq)] });
