/**
 * What a stage is of: a repository, told from others by the git directory that its worktrees share. Nothing is written there
 * to find out, and a repository that is only watched need not be registered (PROMO-02).
 */
import { activeIn } from '../../../machines/notedRuns.ts';
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import type { Promotion, PromotionUnit, Stage } from '../../../persistence/tables/promotions.ts';
import type { UnitStanding } from '../../promotion/stages.ts';
import { everyActor } from '../../runtime/actorAccess.ts';
import { derivedId } from '../../runtime/derivedIds.ts';
import { commonDirectoryOf, locateRepository } from '../../runtime/locate.ts';
import type { Runtime } from '../../runtime/runtime.ts';

type Parts = Pick<Runtime, 'host' | 'store'>;

/** Throws `not_a_repository` (exit 13). */
export function unitAt({ store }: Pick<Parts, 'store'>, path: string): PromotionUnit {
  const { commonGitDir, path: top } = locateRepository(path);
  const of = [store.installationId, 'promotion', commonGitDir];
  return { unitId: derivedId({ letter: 'U', digits: 10, of }), commonGitDir, path: top };
}

/** Undefined while nobody has said anything about stages of the repository. */
export const promotionOf = (parts: Parts, generation: GenerationSnapshot): Promotion | undefined =>
  parts.store.promotions.list().find(({ commonGitDir }) => belongsTo(parts, generation, commonGitDir));

export const stageOf = (promotion: Pick<Promotion, 'stage'> | undefined): Stage => promotion?.stage ?? 'tracking';

/** Also when its directory is gone: what is left of git's own path says whose worktree it was (gitrepository-layout(5)). */
export function belongsTo(
  { store }: Pick<Parts, 'store'>,
  { context }: GenerationSnapshot,
  commonGitDir: string,
): boolean {
  const { repoId, fsIdentity } = context;
  if (repoId !== null && store.repositories.find(repoId)?.commonGitDir === commonGitDir) return true;
  const { gitdir } = fsIdentity;
  if (gitdir === '') return false;
  return gitdir.startsWith(`${commonGitDir}/worktrees/`) || commonDirectoryOf(gitdir) === commonGitDir;
}

export function standingOf(parts: Parts, commonGitDir: string): UnitStanding {
  const watched: string[] = [];
  const controlled: string[] = [];
  const proved: string[] = [];
  const damaged: string[] = [];
  const unresolved: UnitStanding['unresolved'][number][] = [];
  for (const { id, snapshot } of everyActor(parts.host, 'worktreeGeneration')) {
    if (snapshot === 'corrupt') damaged.push(id);
    else if (belongsTo(parts, snapshot, commonGitDir)) {
      const { controller } = snapshot.context;
      const isControlled = !snapshot.matches({ authority: 'observe' });
      const isRetired = snapshot.matches({ lifecycle: 'retired' });
      if (!isRetired) (isControlled ? controlled : watched).push(id);
      if (isControlled && hasProvedWork(snapshot)) proved.push(id);
      const runs = unresolvedRuns(snapshot);
      if (!isControlled && runs > 0) unresolved.push({ generationId: id, controller, runs });
    }
  }
  return { watched, controlled, proved, unresolved, damaged };
}

/** Something ran there to its end, and nothing that ran there is without proof. */
function hasProvedWork({ context }: GenerationSnapshot): boolean {
  const runs = Object.values(context.admitted);
  const isSettled = runs.every(
    ({ run, scopes }) => run !== 'active' && Object.values(scopes).every((scope) => scope === 'proved'),
  );
  return isSettled && runs.some(({ run, scopes }) => run === 'ended' && Object.keys(scopes).length > 0);
}

const unresolvedRuns = ({ context }: GenerationSnapshot): number =>
  activeIn(context) + Object.values(context.admitted).filter(({ run }) => run === 'active').length;
