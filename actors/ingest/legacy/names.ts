/** From a tool's own names to the ids of actors, always the same ones: a record that is imported twice means one actor. */
import type { GenerationId, RunId, ScopeId } from '../../../machines/ids.ts';
import type { Place } from '../../../machines/note.ts';
import { derivedId } from '../../runtime/derivedIds.ts';

export interface LegacySource {
  readonly installationId: string;
  readonly tool: string;
}

const digits = 16;

const idOf = <Id extends string>(letter: string, { installationId, tool }: LegacySource, ...names: string[]): Id =>
  derivedId<Id>({ letter, digits, of: [installationId, 'legacy', tool, ...names] });

export const legacyRunId = (source: LegacySource, run: string): RunId => idOf('R', source, run);

/** Of everything that the run has started, whoever that is. */
export const legacyScopeId = (source: LegacySource, run: string): ScopeId => idOf('S', source, run);

/** Of one physical directory: what is made anew at its path is another generation (WT-01). */
export const legacyGenerationId = (source: LegacySource, { path, dev, ino, born, gitdir }: Place): GenerationId =>
  idOf('W', source, path, dev, ino, born ?? '', gitdir);
