/**
 * A repository of our own that has the objects of another one and nothing else of it: no configuration, no attributes, no
 * replaced or grafted commits, no merge or diff drivers. Questions about objects alone are asked there.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Places } from '../../runtime/places.ts';
import { LookFailed } from './gitLook.ts';
import { textOf } from './place.ts';

export interface Isolated {
  readonly gitDir: string;
  remove(): void;
}

const folder = 'inspections';
/** Of daemons that died while they looked; done once, before this one makes its first. */
const swept = new Set<string>();

/** `commonGitDir` is absolute. `head` tells which hash the repository uses. Throws LookFailed. */
export function isolated({ stateDir }: Pick<Places, 'stateDir'>, commonGitDir: string, head: string): Isolated {
  const objects = join(commonGitDir, 'objects');
  if (objects.includes('\n'))
    throw new LookFailed('inspection_failed', 'the path of the repository has a line feed in it', []);
  const parent = join(stateDir, folder);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  if (!swept.has(parent)) for (const name of readdirSync(parent)) rmSync(join(parent, name), { recursive: true });
  swept.add(parent);
  const gitDir = mkdtempSync(join(parent, 'look-'));
  mkdirSync(join(gitDir, 'objects', 'info'), { recursive: true });
  mkdirSync(join(gitDir, 'refs'));
  writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/nothing\n');
  writeFileSync(join(gitDir, 'config'), head.length === 64 ? sha256 : sha1);
  writeFileSync(join(gitDir, 'objects', 'info', 'alternates'), `${objects}\n`);
  // A shallow clone has no parents of its oldest commits, and git must know that.
  const shallow = textOf(join(commonGitDir, 'shallow'));
  if (shallow !== '') writeFileSync(join(gitDir, 'shallow'), shallow);
  return { gitDir, remove: () => rmSync(gitDir, { recursive: true, force: true }) };
}

const sha1 = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n';
const sha256 = '[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n';
