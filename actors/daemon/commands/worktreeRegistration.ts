/**
 * Watches worktrees that exist already. They keep their controller (INT-09): what is written is a record of our own, and
 * neither the worktree nor its repository is touched.
 */
import { lstatSync, realpathSync } from 'node:fs';
import type { GenerationId, RepoId } from '../../../machines/ids.ts';
import type { Place } from '../../../machines/note.ts';
import { ownController } from '../../../machines/worktreeGenerationBlockers.ts';
import { inheritedGaps } from '../../ingest/coverage.ts';
import { fileIdentityOf, generationAt, registrationOf, replacementsAt } from '../../runtime/generations.ts';
import { commonDirectoryOf, locateRepository } from '../../runtime/locate.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { Serial } from '../../runtime/serial.ts';
import { assertAccepted } from '../../runtime/submission.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { contractDraft, tellGeneration } from '../contract/record.ts';
import { headOf } from '../git/head.ts';
import { worktreeView } from '../views/worktreeView.ts';
import { requestKey, reusedRequest, wasApplied } from './requestIds.ts';

const by = 'operator';

/** Two requests for one directory would both find that nobody has registered it. */
const oneAtATime = new Serial();

type Result = Answer<CallResults['worktrees.register']>;

/** Throws `not_a_repository`, `not_a_worktree` (exit 13), `usage` (exit 2). */
export function registerWorktree(context: DaemonContext, args: ParsedArguments<'worktrees.register'>): Promise<Result> {
  return oneAtATime.run('', () => register(context, args));
}

async function register(context: DaemonContext, args: ParsedArguments<'worktrees.register'>): Promise<Result> {
  const { host, store } = context;
  const { controller } = args;
  if (controller === ownController) throw ownName();
  const key = requestKey(store.installationId, 'worktrees.register', args.requestId);
  const generationId = key.idOf<GenerationId>('W');
  const place = placeAt(args.path);
  const known = generationAt(host, place);
  if (wasApplied(host, key, ['worktreeGeneration', generationId])) {
    if (known?.context.generationId !== generationId) throw reusedRequest(key.requestId);
    return { data: { ...worktreeView(context, generationId), isNew: true } };
  }
  if (known !== undefined) {
    return { data: { ...worktreeView(context, known.context.generationId), isNew: false } };
  }
  const commonGitDir = commonDirectoryOf(place.gitdir);
  const { branch, commit } = headOf(place.gitdir);
  const registered = registrationOf({
    generationId,
    place,
    origin: controller === 'legacy' ? 'legacy' : 'observed',
    controller,
    repoId: (store.repositories.findByCommonGitDir(commonGitDir)?.repoId as RepoId | undefined) ?? null,
    branch,
    baseCommit: commit,
    by,
    eventId: key.eventId,
  });
  const said = [...inheritedGaps(context, generationId), ...replacementsAt(host, place, by)];
  const drafts = [registered, ...said, ...contractDraft(store, generationId)];
  assertAccepted(await host.submit(drafts));
  await tellGeneration(context, generationId);
  return { data: { ...worktreeView(context, generationId), isNew: true } };
}

/** The worktree whose top is there. A link is followed once, here; what is recorded is where it leads. */
function placeAt(path: string): Place {
  const top = locateRepository(path);
  const real = realpathSync(path);
  if (top.bare || real !== top.path || !lstatSync(real).isDirectory()) {
    throw new OperatingError({
      code: 'not_a_worktree',
      message: `${JSON.stringify(path)} is ${top.bare ? 'a bare repository' : 'not the top of a worktree'}`,
      exitCode: 13,
      next: top.bare ? ['git worktree list'] : [`custody worktrees register ${JSON.stringify(top.path)}`],
    });
  }
  return { path: real, ...fileIdentityOf(real) };
}

const ownName = (): OperatingError =>
  new OperatingError({
    code: 'usage',
    message: `${ownController} controls what it made or took over; a worktree that exists has another controller`,
    exitCode: 2,
    next: ['choose another --controller'],
  });
