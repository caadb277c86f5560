/**
 * Repositories and worktrees that lie inside of a worktree and would go along with it. Git shows those that it does not
 * ignore as untracked; one in an ignored directory, which is where such are kept, it does not mention at all.
 */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { everyActor } from '../../runtime/actorAccess.ts';
import type { DaemonContext } from '../context.ts';
import { entriesOf } from './directory.ts';
import { counted, type Fact, mostNamed, quoted } from './fact.ts';
import { LookFailed } from './gitLook.ts';
import { textOf } from './place.ts';

export interface NestedQuestion {
  readonly path: string;
  readonly commonGitDir: string;
  /** As git names them: directories as a whole, with a slash behind. */
  readonly ignored: readonly string[];
  readonly limitMs: number;
  /** Of the look at the ignored ones. */
  readonly evidenceId: string;
}

/** Below an ignored directory: `.worktrees/<name>`, `node_modules/@<scope>/<name>`. */
const deepest = 2;

/** Throws LookFailed. */
export async function lookForNested(
  context: Pick<DaemonContext, 'host' | 'clock'>,
  { path, commonGitDir, ignored, limitMs, evidenceId }: NestedQuestion,
): Promise<Fact[]> {
  const untilMonoMs = context.clock.monoMs() + limitMs;
  const found = new Set(onRecord(context, path, commonGitDir));
  const inTime = () => {
    if (context.clock.monoMs() > untilMonoMs) throw tooLong(limitMs);
  };
  for (const name of ignored.filter((one) => one.endsWith('/')))
    for await (const one of repositoriesBelow(join(path, name), 0, inTime)) found.add(one);
  const nested = [...found].filter((one) => existsSync(one)).toSorted();
  if (nested.length === 0) return [];
  const more = nested.length > 1 ? `, and ${counted(nested.length - 1, 'other')}` : '';
  const detail = `a repository or worktree of its own lies in it: ${quoted(nested[0]!)}${more}`;
  const named = nested.slice(0, mostNamed);
  return [{ code: 'nested_repository', detail, evidenceIds: [evidenceId], named, count: nested.length }];
}

const tooLong = (limitMs: number): LookFailed =>
  new LookFailed('inspection_timeout', `ignored directories were not looked through within ${limitMs} ms`, []);

function onRecord(context: Pick<DaemonContext, 'host'>, path: string, commonGitDir: string): string[] {
  try {
    return [...worktreesOf(commonGitDir), ...generations(context)].filter(isBelow(path));
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new LookFailed('inspection_failed', `what lies inside of it cannot be told: ${syscall} (${code})`, []);
  }
}

function isBelow(path: string): (other: string) => boolean {
  const above = [path, realpathSync(path)].map((one) => one + sep);
  return (other) => above.some((one) => other.startsWith(one));
}

/** What git has on record of them (gitrepository-layout(5), worktrees/<id>/gitdir); a relative one is from there. */
function worktreesOf(commonGitDir: string): string[] {
  const all = join(commonGitDir, 'worktrees');
  if (!existsSync(all)) return [];
  return readdirSync(all).flatMap((id) => {
    const pointer = textOf(join(all, id, 'gitdir')).replace(/\n$/, '');
    return pointer === '' ? [] : [dirname(resolve(all, id, pointer))];
  });
}

function* generations({ host }: Pick<DaemonContext, 'host'>): Generator<string> {
  for (const { snapshot } of everyActor(host, 'worktreeGeneration', { settled: false }))
    if (snapshot !== 'corrupt') yield snapshot.context.path;
}

async function* repositoriesBelow(directory: string, depth: number, inTime: () => void): AsyncGenerator<string> {
  inTime();
  const entries = await entriesOf(directory);
  if (entries.some(({ name }) => name === '.git')) {
    yield directory;
    return;
  }
  if (depth === deepest) return;
  for (const entry of entries)
    if (entry.isDirectory()) yield* repositoriesBelow(join(directory, entry.name), depth + 1, inTime);
}
