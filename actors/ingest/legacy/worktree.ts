/** The generation of a worktree that another tool has on record (WT-01, INT-09): its controller stays who it is. */
import type { RepoId } from '../../../machines/ids.ts';
import { generationAt, registrationOf, replacementsAt } from '../../runtime/generations.ts';
import { inheritedGaps } from '../coverage.ts';
import { answered, controlledHere, type Decision, type LegacyParts, type RecordOf } from './decision.ts';
import { type LegacySource, legacyGenerationId } from './names.ts';
import { by } from './telling.ts';

export function decideWorktree(
  { host, store, clock }: LegacyParts,
  source: LegacySource,
  record: RecordOf<'worktree'>,
): Decision {
  const { place, branch, commit, commonGitDir } = record;
  const known = generationAt(host, place);
  if (known !== undefined) {
    const { generationId } = known.context;
    return answered('known', generationId, known.matches({ authority: 'observe' }) ? undefined : controlledHere);
  }
  const generationId = legacyGenerationId(source, place);
  const registration = registrationOf({
    ...{ generationId, place, branch, baseCommit: commit, by },
    ...{ origin: 'legacy', controller: 'legacy' },
    repoId: (store.repositories.findByCommonGitDir(commonGitDir)?.repoId as RepoId | undefined) ?? null,
  });
  // A dry run asks for none of them, and writes nothing.
  const drafts = () => [
    registration,
    ...inheritedGaps({ store, clock }, generationId),
    ...replacementsAt(host, place, by),
  ];
  return { id: generationId, drafts };
}
