/** Worktrees of a real daemon with a real history, and what is predicted of each. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { CallArguments } from '../../../actors/daemon/api/contract.ts';
import type { PredictionView } from '../../../actors/daemon/api/views.ts';
import { TestDaemon } from '../../support/daemon.ts';
import { daemonHome } from '../../support/daemonHome.ts';

const who = { NAME: 'Test', EMAIL: 'test@example.org' };
const people = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((role) => Object.entries(who).map(([key, value]) => [`GIT_${role}_${key}`, value])),
);
const environment = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', ...people };

export const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', args, { cwd, env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** For what is expected to end in a conflict. */
export function conflicting(cwd: string, ...args: readonly string[]): void {
  try {
    git(cwd, ...args);
  } catch {
    return;
  }
  throw new Error(`git ${args.join(' ')} met no conflict`);
}

export interface Spot {
  readonly generationId: string;
  readonly goalId: string;
  readonly path: string;
  readonly branch: string;
  readonly repo: string;
}

export const put = ({ path }: Pick<Spot, 'path'>, name: string, text = `${name}\n`): void =>
  writeFileSync(join(path, name), text);

export function commit(spot: Pick<Spot, 'path'>, name: string, text?: string): string {
  put(spot, name, text);
  git(spot.path, 'add', '-A');
  git(spot.path, 'commit', '-qm', `change ${name}`);
  return git(spot.path, 'rev-parse', 'HEAD');
}

/** Into the branch of the main working tree. */
export function squash({ repo, branch }: Spot): void {
  git(repo, 'merge', '-q', '--squash', branch);
  git(repo, 'commit', '-qm', `squash ${branch}`);
}

/** A worktree whose work was done and is kept elsewhere: nothing protects it but what a test adds. */
export function mergedWork(spot: Spot): void {
  commit(spot, `work-${spot.generationId}`);
  squash(spot);
}

type Options = Omit<CallArguments<'worktrees.predict'>, 'id'>;

export class PredictionDaemon extends TestDaemon {
  /** A closed generation on a host whose contract is verified. */
  async spot(prepare: (spot: Spot) => void = () => undefined): Promise<Spot> {
    const { generationId, goalId, path, branch } = await this.goal();
    await this.event({ actor: generationId, type: 'contract.verified' });
    const spot = { generationId, goalId, path, branch: branch!, repo: this.home.repo };
    prepare(spot);
    await this.call('worktrees.close', { id: generationId });
    return spot;
  }

  /** What nobody may look into on the machine of the tests is not what they are about. */
  async predict({ generationId }: Pick<Spot, 'generationId'>, options: Options = {}): Promise<PredictionView> {
    return this.call('worktrees.predict', { id: generationId, allowUnseen: true, ...options });
  }
}

export const predictionDaemon = (): PredictionDaemon => new PredictionDaemon(daemonHome());

/** One that serves all tests of a file. */
export function servingPredictions(): PredictionDaemon {
  const daemon = predictionDaemon();
  beforeAll(() => daemon.start());
  afterAll(() => daemon.dispose());
  return daemon;
}

export const codesOf = ({ blockers }: PredictionView): string[] => blockers.map(({ code }) => code).toSorted();

export const factOf = ({ blockers }: PredictionView, code: string) => blockers.find((one) => one.code === code);

/** Two sides that change the same line of a file that both begin with. */
export function disputed(spot: Spot): { readonly ours: string; readonly theirs: string } {
  mergedWork(spot);
  const ours = git(spot.path, 'rev-parse', 'HEAD');
  git(spot.path, 'checkout', '-q', '--detach', `${ours}~1`);
  const theirs = commit(spot, `work-${spot.generationId}`, 'another\n');
  git(spot.path, 'checkout', '-q', spot.branch);
  return { ours, theirs };
}
