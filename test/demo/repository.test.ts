/** Somebody's repository is read and nothing else, whatever is set up in it; and what cannot be cloned is told at once. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeRepository } from '../cli/support/installation.ts';
import { json } from '../cli/support/program.ts';
import { listing } from './support/listing.ts';
import { demo, nobodyLeft, type Stage, stage } from './support/stage.ts';

let at: Stage;
beforeEach(() => {
  at = stage();
});
afterEach(() => at.remove());

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, env: { ...at.env, GIT_OPTIONAL_LOCKS: '0' }, encoding: 'utf8' });

/** With edits, a stash, a second branch, and a configuration that runs programs on checkout. */
function livedIn(): string {
  const path = makeRepository(join(at.dir, 'Größe und Maß'), at.env);
  const commit = ['-c', 'user.name=T', '-c', 'user.email=t@example.org', 'commit', '-qam'];
  writeFileSync(join(path, '.gitattributes'), '* filter=noisy\n');
  writeFileSync(join(path, 'ünïcode.txt'), 'one\n');
  git(path, 'add', '.');
  git(path, ...commit, 'second');
  git(path, 'branch', 'other');
  writeFileSync(join(path, 'ünïcode.txt'), 'edited\n');
  git(path, '-c', 'user.name=T', '-c', 'user.email=t@example.org', 'stash', '-q');
  writeFileSync(join(path, 'README.md'), 'edited and not committed\n');
  writeFileSync(join(path, 'untracked'), 'x\n');
  git(path, 'config', 'filter.noisy.smudge', `touch '${join(at.home, 'canary')}'; cat`);
  git(path, 'config', 'filter.noisy.clean', 'cat');
  git(path, 'config', 'filter.noisy.required', 'true');
  for (const hook of ['post-checkout', 'reference-transaction', 'post-commit']) {
    writeFileSync(join(path, '.git', 'hooks', hook), `#!/bin/sh\ntouch '${join(at.home, 'canary')}'\n`, {
      mode: 0o755,
    });
  }
  return path;
}

const refusalOf = async (args: readonly string[]) => {
  const ended = await demo(at, ['--json', ...args]);
  expect(at.leftFiles()).toEqual([]);
  return { exitCode: ended.code, ...json(ended).error };
};

describe('custody demo --repo', () => {
  it('clones a repository and leaves it byte for byte as it was, with its status and refs', async () => {
    const path = livedIn();
    const facts = () => [
      git(path, 'status', '--porcelain'),
      git(path, 'for-each-ref'),
      ...listing(path),
      ...at.untouched(),
    ];
    const before = facts();
    const ended = await demo(at, ['--json', '--repo', join(path, '.')]);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(facts()).toEqual(before);
    const { repository, commit } = json(ended).data;
    expect(repository).toMatchObject({ source: path, why: 'named', commits: 2 });
    expect(() => git(path, 'cat-file', '-e', commit)).toThrow();
    await nobodyLeft(at);
  });

  it('takes a path inside a repository, relative to where it is typed, and a bare repository', async () => {
    const path = makeRepository(join(at.cwd, 'project'), at.env);
    mkdirSync(join(path, 'deep', 'er'), { recursive: true });
    const inside = await demo(at, ['--json', '--repo', 'project/deep/er']);
    expect(json(inside).data.repository).toMatchObject({ source: path, commits: 1 });
    git(at.cwd, 'clone', '-q', '--bare', path, 'bare.git');
    const bare = await demo(at, ['--json', '--repo', 'bare.git']);
    expect(json(bare).data.repository).toMatchObject({ source: join(at.cwd, 'bare.git'), commits: 1 });
  });

  it('says what is wrong with a path that it cannot use', async () => {
    expect(await refusalOf(['--repo', 'nowhere'])).toMatchObject({ exitCode: 2, code: 'usage' });
    expect(await refusalOf(['--repo', at.home])).toMatchObject({ exitCode: 2, code: 'not_a_repository' });
    git(at.cwd, 'init', '-q', 'empty');
    expect(await refusalOf(['--repo', 'empty'])).toMatchObject({ exitCode: 13, code: 'repository_empty' });
  });
});
