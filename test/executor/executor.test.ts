/** What executors do with a ticket, and what they refuse (WT-05, WT-07). */
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withdraw } from '../../actors/daemon/tickets/revocation.ts';
import { changeMark, hasMark } from '../../actors/executor/marks.ts';
import { receiptSchema } from '../../actors/executor/ticket.ts';
import { canonicalJson, sha256 } from '../../machines/canonical.ts';
import type { GenerationSnapshot } from '../../machines/worktreeGeneration.ts';
import { isWhole, thrown } from './support/refusals.ts';
import { moment, run, type SealedWorktree, sealedWorktree, ticketFor } from './support/sealedWorktree.ts';

describe('custody-remove', () => {
  it('removes the worktree and what git knew of it, follows no link, and leaves a private receipt', () => {
    const worktree = sealedWorktree();
    const { path, ticket, git, precious } = worktree;
    const { receipt, file } = run(worktree);
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(ticket.aside)).toEqual([]);
    expect(readFileSync(join(precious, 'kept'), 'utf8')).toBe('kept\n');
    expect(git('worktree', 'list', '--porcelain')).not.toContain(path);
    expect(git('branch', '--list', 'work')).toContain('work');
    expect(git('fsck')).toBe('');
    expect(receipt).toMatchObject({ outcome: 'removed', to: null, git: 'deregistered', executor: 'custody-remove' });
    expect(receipt).toMatchObject({ generationId: 'W1', sealEpoch: 1, authorityEpoch: 2, began: moment });
    expect(receipt.ticketDigest).toBe(sha256(ticket.secret));
    expect(readFileSync(file, 'utf8')).toBe(`${canonicalJson(receiptSchema.parse(receipt))}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain(ticket.secret);
  });

  it('brings the same receipt when it is run again', () => {
    const worktree = sealedWorktree();
    const first = run(worktree);
    mkdirSync(worktree.path);
    expect(run(worktree, { now: () => ({ ...moment, wallMs: 2 }) })).toEqual(first);
    expect(existsSync(worktree.path)).toBe(true);
  });

  it('removes trees that are deeper than descriptors last', () => {
    const worktree = sealedWorktree();
    let inner = worktree.path;
    // As deep as one path may say at once.
    for (let depth = 0; depth < 1_500; depth += 1) inner += '/d';
    mkdirSync(inner, { recursive: true });
    writeFileSync(`${inner}/file`, 'x');
    run(worktree);
    expect(readdirSync(worktree.ticket.aside)).toEqual([]);
  });
});

describe('custody-archive', () => {
  it('moves the worktree whole into an archive, with the commits that git had recorded for it alone', () => {
    const worktree = sealedWorktree({ executor: 'custody-archive' });
    const { path, git, repo } = worktree;
    const { receipt } = run(worktree);
    expect(existsSync(path)).toBe(false);
    expect(receipt).toMatchObject({ outcome: 'archived', git: 'deregistered' });
    const archive = join(receipt.to!, '..');
    expect(readFileSync(join(receipt.to!, 'deep', 'er', 'file'), 'utf8')).toBe('x');
    expect(readFileSync(join(archive, 'git', 'HEAD'), 'utf8')).toBe('ref: refs/heads/work\n');
    expect(JSON.parse(readFileSync(join(archive, 'manifest.json'), 'utf8'))).toMatchObject({
      generationId: 'W1',
      path,
      head: 'ref: refs/heads/work',
    });
    expect(statSync(archive).mode & 0o777).toBe(0o700);
    expect(git('worktree', 'list')).not.toContain(path);
    expect(existsSync(join(repo, '.git', 'worktrees', 'worktree'))).toBe(false);
  });
});

it('a receipt is brought again also where its archive was taken elsewhere since', () => {
  const worktree = sealedWorktree({ executor: 'custody-archive' });
  const first = run(worktree);
  rmSync(worktree.ticket.aside, { recursive: true });
  expect(run(worktree)).toEqual(first);
});

describe('from another file system', () => {
  it.each(['custody-remove', 'custody-archive'] as const)('%s works beside the worktree', (executor) => {
    const elsewhere = mkdtemp('/dev/shm/custody-executor-');
    const worktree = sealedWorktree({ executor, path: join(elsewhere, 'worktree') });
    const { receipt } = run(worktree);
    expect(existsSync(worktree.path)).toBe(false);
    expect(readdirSync(elsewhere)).toHaveLength(executor === 'custody-archive' ? 1 : 0);
    if (receipt.to !== null) expect(receipt.to.startsWith(elsewhere)).toBe(true);
  });
});

function mkdtemp(prefix: string): string {
  const path = `${prefix}${process.pid}-${Math.random().toString(36).slice(2)}`;
  mkdirSync(path);
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe('a ticket that does not count', () => {
  const cases: readonly (readonly [string, (worktree: SealedWorktree) => SealedWorktree])[] = [
    ['unreadable', (worktree) => ({ ...worktree, text: '{"version":1}' })],
    ['unreadable', (worktree) => ({ ...worktree, text: 'no ticket' })],
    ['unknown', (worktree) => revoked(worktree, () => rmSync(worktree.ticket.directory, { recursive: true }))],
    ['unknown', (worktree) => revoked(worktree, () => rmSync(join(worktree.ticket.directory, 'live')))],
    ['superseded', (worktree) => revoked(worktree, () => changeMark(worktree.ticket.directory, 'live', 'superseded'))],
    ['stale_epoch', (worktree) => revoked(worktree, () => changeMark(worktree.ticket.directory, 'live', 'stale'))],
    ['used', (worktree) => revoked(worktree, () => changeMark(worktree.ticket.directory, 'live', 'used'))],
    ['forged', (worktree) => altered(worktree, { secret: 'a'.repeat(64) })],
    ['forged', (worktree) => altered(worktree, { path: worktree.precious })],
    ['forged', (worktree) => altered(worktree, { sealEpoch: 2 })],
    ['forged', (worktree) => altered(worktree, { authorityEpoch: 3 })],
    ['other_executor', (worktree) => altered(worktree, { executor: 'custody-archive' })],
  ];

  it.each(cases)('is refused, and nothing is touched: %s', (reason, spoil) => {
    const worktree = sealedWorktree();
    const refusal = thrown(() => run(spoil(worktree), { name: 'custody-remove' }));
    expect(refusal).toMatchObject({ code: 'ticket_refused', exitCode: 13, details: { reason } });
    isWhole(worktree);
  });

  it.each([
    ['later', { ...moment, monoMs: 6_000 }],
    ['in another boot', { ...moment, bootId: 'next-boot' }],
  ])('TIME-01 is expired %s, whatever the time of day is', (_, later) => {
    const worktree = sealedWorktree({ change: { expires: { monoMs: 6_000, bootId: moment.bootId } } });
    const refusal = thrown(() => run(worktree, { now: () => ({ ...later, wallMs: 0 }) }));
    expect(refusal).toMatchObject({ code: 'ticket_refused', details: { reason: 'expired' } });
    isWhole(worktree);
    run(worktree, { now: () => ({ ...moment, wallMs: 9_999_999, monoMs: 5_999 }) });
    expect(existsSync(worktree.path)).toBe(false);
  });

  it('is undone where it was revoked after the move', () => {
    const worktree = sealedWorktree();
    const revoke = (name: string) => {
      if (name === 'after the move') changeMark(worktree.ticket.directory, 'begun', 'superseded');
    };
    expect(thrown(() => run(worktree, { step: revoke }))).toMatchObject({ details: { reason: 'superseded' } });
    isWhole(worktree);
  });

  it('cannot be revoked past an executor that moves the worktree while it is looked at', () => {
    const worktree = sealedWorktree();
    const { directory, ticketId, fsIdentity, path } = worktree.ticket;
    let looks = 0;
    const context = {
      ...{ generationId: 'W1', path },
      // Read between the look at the directory and the change of the mark.
      get fsIdentity() {
        looks += 1;
        if (looks === 1) run(worktree);
        return fsIdentity;
      },
    };
    const stop = (name: string) => {
      if (name === 'before the move') throw new Error('interrupted');
    };
    expect(thrown(() => run(worktree, { step: stop })).message).toBe('interrupted');
    const generation = { context } as unknown as GenerationSnapshot;
    const refusal = thrown(() => withdraw(generation, { ticketId, directory }, 'stale'));
    expect(refusal).toMatchObject({ code: 'executor_at_work', exitCode: 13 });
    expect(looks).toBe(1);
    expect(hasMark(directory, 'taken')).toBe(true);
    expect(run(worktree).receipt.outcome).toBe('removed');
  });

  it('is refused where it is revoked at the moment at which it is begun', () => {
    const worktree = sealedWorktree();
    const steps: string[] = [];
    const revoke = (name: string) => {
      steps.push(name);
      if (name === 'begin') changeMark(worktree.ticket.directory, 'live', 'stale');
    };
    expect(thrown(() => run(worktree, { step: revoke }))).toMatchObject({ details: { reason: 'stale_epoch' } });
    // Not moved and put back: whoever looks meanwhile would not find it.
    expect(steps.at(-1)).toBe('begin');
    isWhole(worktree);
  });
});

const altered = (worktree: SealedWorktree, change: object): SealedWorktree => ({
  ...worktree,
  text: canonicalJson({ ...worktree.ticket, ...change }),
});

function revoked(worktree: SealedWorktree, how: () => unknown): SealedWorktree {
  how();
  return worktree;
}

describe('something else than the worktree of the ticket', () => {
  it.each([
    ['a directory that was made anew', (path: string) => mkdirSync(path)],
    ['a link', (path: string, { precious }: SealedWorktree) => symlinkSync(precious, path)],
    ['a link to the worktree itself', (path: string) => symlinkSync(`${path}.moved`, path)],
    ['a file', (path: string) => writeFileSync(path, 'x')],
    ['nothing', () => undefined],
  ])('is not touched: %s', (_, put) => {
    const worktree = sealedWorktree();
    const { path } = worktree;
    renameSync(path, `${path}.moved`);
    put(path, worktree);
    expect(thrown(() => run(worktree))).toMatchObject({ code: 'not_the_worktree', exitCode: 13 });
    expect(hasMark(worktree.ticket.directory, 'live')).toBe(true);
    expect(existsSync(join(`${path}.moved`, 'deep', 'er', 'file'))).toBe(true);
    expect(existsSync(join(worktree.precious, 'kept'))).toBe(true);
  });

  it('is not taken for it because of its inode: another git directory, another birth', () => {
    const worktree = sealedWorktree();
    for (const fsIdentity of [
      { ...worktree.ticket.fsIdentity, gitdir: join(worktree.repo, '.git') },
      { ...worktree.ticket.fsIdentity, born: '1' },
    ]) {
      const other = ticketFor(worktree.dir, worktree.path, { fsIdentity });
      expect(thrown(() => run(other))).toMatchObject({ code: 'not_the_worktree' });
      // It was not even begun.
      expect(hasMark(other.ticket.directory, 'live')).toBe(true);
    }
    const unknownBirth = { ...worktree.ticket.fsIdentity, born: null };
    run(ticketFor(worktree.dir, worktree.path, { fsIdentity: unknownBirth }));
    expect(existsSync(worktree.path)).toBe(false);
  });

  it.each([
    ['a link', (path: string, precious: string) => symlinkSync(precious, path)],
    ['a directory', (path: string) => mkdirSync(join(path, 'of somebody'), { recursive: true })],
  ])('that is swapped in at the last moment is put back: %s', (_, put) => {
    const worktree = sealedWorktree();
    const { path, precious } = worktree;
    const swap = (name: string) => {
      if (name !== 'before the move') return;
      renameSync(path, `${path}.moved`);
      put(path, precious);
    };
    expect(thrown(() => run(worktree, { step: swap }))).toMatchObject({ code: 'not_the_worktree' });
    expect(existsSync(path)).toBe(true);
    expect(existsSync(join(precious, 'kept'))).toBe(true);
    expect(existsSync(join(`${path}.moved`, 'deep', 'er', 'file'))).toBe(true);
    expect(readdirSync(join(worktree.ticket.aside, worktree.ticket.ticketId))).toEqual([]);
  });

  it('whose place is taken before it can go back stays where it is, and is named', () => {
    const worktree = sealedWorktree();
    const { path } = worktree;
    const swap = (name: string) => {
      if (name === 'before the move') {
        renameSync(path, `${path}.moved`);
        mkdirSync(path);
      }
      if (name === 'after the move') mkdirSync(path);
    };
    const refusal = thrown(() => run(worktree, { step: swap }));
    const holder = join(worktree.ticket.aside, worktree.ticket.ticketId);
    expect(refusal).toMatchObject({ code: 'displaced', exitCode: 13, details: { path, holder } });
    expect(readdirSync(holder)).toEqual(['worktree']);
  });

  it('is the main worktree, in which the repository lies', () => {
    const worktree = sealedWorktree();
    const main = ticketFor(worktree.dir, worktree.repo, {});
    expect(thrown(() => run(main))).toMatchObject({ code: 'main_worktree', exitCode: 13 });
    isWhole(worktree);
  });

  it('is locked for git, until somebody unlocks it', () => {
    const worktree = sealedWorktree();
    worktree.git('worktree', 'lock', '--reason', 'on a stick', worktree.path);
    expect(thrown(() => run(worktree))).toMatchObject({ code: 'worktree_locked', exitCode: 13 });
    isWhole(worktree);
    worktree.git('worktree', 'unlock', worktree.path);
    run(worktree);
    expect(existsSync(worktree.path)).toBe(false);
  });

  it('is a directory of another user', () => {
    const worktree = sealedWorktree();
    chownSync(worktree.path, 12_345, 12_345);
    expect(thrown(() => run(worktree))).toMatchObject({ code: 'not_owner', exitCode: 13 });
    isWholeBut(worktree);
  });
});

/** Git trusts no directory of somebody else. */
const isWholeBut = ({ path }: SealedWorktree): void => {
  chownSync(path, process.getuid!(), process.getgid!());
  expect(readFileSync(join(path, 'deep', 'er', 'file'), 'utf8')).toBe('x');
};

describe('files of another user', () => {
  it.each(['deep/er/file', 'deep/er'])('in it stay, are named, and go when they are given over: %s', (name) => {
    const worktree = sealedWorktree();
    chownSync(join(worktree.path, name), 12_345, 12_345);
    const held = join(worktree.ticket.aside, worktree.ticket.ticketId, 'worktree', name);
    const { code, exitCode, details } = thrown(() => run(worktree));
    expect([code, exitCode]).toEqual(['incomplete', 5]);
    expect(details).toMatchObject({ left: [{ path: held, reason: 'other_owner' }] });
    expect(existsSync(held)).toBe(true);
    chownSync(held, process.getuid!(), process.getgid!());
    expect(run(worktree).receipt.outcome).toBe('removed');
  });
});

describe('mounts inside of it are never crossed', () => {
  /** Runs `script` in a mount namespace of its own, where $1 is the executor's program and $2 the ticket. */
  function inNamespace(worktree: SealedWorktree, script: string) {
    const file = join(worktree.dir, 'ticket');
    writeFileSync(file, worktree.text);
    const program = join(import.meta.dirname, '..', '..', 'dist', 'custody-remove.cjs');
    const { PATH } = process.env;
    const args = [
      '--user',
      '--map-root-user',
      '--mount',
      'sh',
      '-c',
      script,
      'sh',
      process.execPath,
      program,
      file,
      worktree.path,
    ];
    try {
      return {
        stdout: execFileSync('unshare', args, { env: { PATH }, encoding: 'utf8', stdio: 'pipe' }),
        stderr: '',
        status: 0,
      };
    } catch (error) {
      return error as { stdout: string; stderr: string; status: number };
    }
  }

  it.each([
    ['a bind mount of the same file system', 'mount --bind "$4/../precious" "$4/deep"'],
    ['another file system', 'mount -t tmpfs none "$4/deep" && touch "$4/deep/kept"'],
    ['a file', 'mount --bind "$4/../precious/kept" "$4/deep/er/file"'],
    ['the worktree itself', 'mount --bind "$4/../precious" "$4"'],
  ])('refused and named before anything is touched: %s', (_, mount) => {
    const worktree = sealedWorktree();
    const { status, stdout } = inNamespace(worktree, `${mount} && "$1" "$2" "$3" --json`);
    const { error } = JSON.parse(stdout);
    expect(status).toBe(13);
    if (error.code === 'mount_inside') expect(error.message).toContain(worktree.path);
    else expect([error.code, mount]).toEqual(['not_the_worktree', expect.stringContaining('"$4"')]);
    isWhole(worktree);
  });

  it('found on the way: what lies on it stays, is named, and the rest is finished when it is gone', () => {
    const worktree = sealedWorktree();
    const holder = join(worktree.ticket.aside, worktree.ticket.ticketId);
    // Put aside and interrupted; then somebody mounts something into it.
    const stop = (name: string) => {
      if (name === 'remove') throw new Error('interrupted');
    };
    expect(thrown(() => run(worktree, { step: stop }))).toMatchObject({ message: 'interrupted' });
    const mount = `mount --bind "${worktree.precious}" "${holder}/worktree/deep"`;
    const { status, stdout } = inNamespace(worktree, `${mount} && "$1" "$2" "$3" --json`);
    const { error } = JSON.parse(stdout);
    expect([status, error.code]).toEqual([5, 'incomplete']);
    expect(error.details.left).toEqual([{ path: `${holder}/worktree/deep`, reason: 'other_mount' }]);
    expect(readFileSync(join(worktree.precious, 'kept'), 'utf8')).toBe('kept\n');
    expect(existsSync(join(worktree.ticket.directory, 'receipt.json'))).toBe(false);
    expect(run(worktree).receipt.outcome).toBe('removed');
    expect(existsSync(holder)).toBe(false);
  });
});

describe('what git knows', () => {
  it('of a worktree that was made since under the same name stays', () => {
    const worktree = sealedWorktree();
    const gitdir = worktree.ticket.fsIdentity.gitdir;
    const renew = (name: string) => {
      if (name !== 'git' || existsSync(`${gitdir}.old`)) return;
      renameSync(gitdir, `${gitdir}.old`);
    };
    run(worktree, { step: renew });
    expect(existsSync(gitdir)).toBe(false);
  });

  it('stays where it is no record of a worktree but the repository itself, whatever lies in it', () => {
    const { dir, git } = sealedWorktree();
    const path = join(dir, 'separate');
    const repository = join(dir, 'separate.git');
    git('init', '-q', `--separate-git-dir=${repository}`, path);
    writeFileSync(join(repository, 'gitdir'), join(path, '.git\n'));
    expect(run(ticketFor(dir, path, {})).receipt).toMatchObject({ outcome: 'removed', git: 'none' });
    expect(existsSync(join(repository, 'HEAD'))).toBe(true);
  });

  it('may be pruned meanwhile', () => {
    const worktree = sealedWorktree();
    const prune = (name: string) => {
      if (name === 'consume') worktree.git('worktree', 'prune');
    };
    expect(run(worktree, { step: prune }).receipt).toMatchObject({ outcome: 'removed', git: 'deregistered' });
    expect(existsSync(worktree.ticket.fsIdentity.gitdir)).toBe(false);
  });

  it('goes as well where it names the worktree relative to itself', () => {
    const worktree = sealedWorktree();
    const { gitdir } = worktree.ticket.fsIdentity;
    writeFileSync(join(gitdir, 'gitdir'), `${relative(gitdir, join(worktree.path, '.git'))}\n`);
    expect(run(worktree).receipt.git).toBe('deregistered');
    expect(existsSync(gitdir)).toBe(false);
  });

  it('of a worktree that has moved leads elsewhere, and stays', () => {
    const worktree = sealedWorktree();
    writeFileSync(join(worktree.ticket.fsIdentity.gitdir, 'gitdir'), join(worktree.precious, '.git\n'));
    expect(run(worktree).receipt.git).toBe('none');
    expect(existsSync(worktree.ticket.fsIdentity.gitdir)).toBe(true);
  });
});
