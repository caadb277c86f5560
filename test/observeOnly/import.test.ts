/** `custody import-legacy` as it is used: real repositories, a process of its own, with and without a daemon. */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cliProgram } from '../support/daemonProcess.ts';
import { claimOf, job, Observing } from './support/observing.ts';

const git = (cwd: string, ...args: string[]): Buffer =>
  execFileSync('git', args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

const outcomesOf = (json: { data: { records: readonly { outcome: string; reasons: readonly string[] }[] } }) =>
  json.data.records.map(({ outcome, reasons }) => [outcome, ...reasons].join(' '));

/** Names and bytes of everything below a directory. */
function everything(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files.flatMap((file) => {
      const path = join(file.parentPath, file.name);
      return file.isFile() ? [[path, sha256(path)]] : [];
    }),
  );
}

/** Beside the repository: one on a branch, one detached and locked, one that is gone, one that lies elsewhere by now. */
function worktrees({ dir, repo }: Observing): void {
  git(repo, 'worktree', 'add', '-q', '-b', 'feature', join(dir, 'on a branch'));
  git(repo, 'worktree', 'add', '-q', '--detach', join(dir, 'locked'));
  git(repo, 'worktree', 'lock', '--reason', 'on a SECRET stick', join(dir, 'locked'));
  git(repo, 'worktree', 'add', '-q', '-b', 'gone', join(dir, 'gone'));
  rmSync(join(dir, 'gone'), { recursive: true });
}

describe('INT-09: what git lists', () => {
  it('is registered as it lies there, and named uncertain where it does not; nothing of it is touched', async () => {
    const observing = new Observing();
    worktrees(observing);
    const { dir, repo } = observing;
    const before = everything(repo);
    for (const extra of [[], ['-z']]) {
      const path = join(dir, 'list');
      writeFileSync(path, git(repo, 'worktree', 'list', '--porcelain', ...extra));
      const answer = await observing.observe(['import-legacy', path, '--format', 'git-worktree-porcelain']);
      expect(answer).toMatchObject({ code: 0, json: { ok: true, command: 'import-legacy' } });
      const went = extra.length === 0 ? 'imported' : 'known';
      expect(outcomesOf(answer.json).toSorted()).toEqual(
        [went, went, `${went} detached locked`, 'uncertain directory_missing prunable'].toSorted(),
      );
    }
    expect(everything(repo)).toEqual(before);
    const { worktrees: known } = (await observing.observe(['coverage'])).json.data;
    expect(known.map(({ path }: { path: string }) => path).toSorted()).toEqual(
      [repo, join(dir, 'locked'), join(dir, 'on a branch')].toSorted(),
    );
  });

  it('is taken from a pipe, for one repository, through a link, and never from a bare one', async () => {
    const observing = new Observing();
    const { dir, repo } = observing;
    git(dir, 'init', '-q', '--bare', 'bare');
    symlinkSync(repo, join(dir, 'link'));
    const lines = [`worktree ${dir}/link`, '', `worktree ${dir}/bare`, 'bare', '', `worktree ${dir}`, ''].join('\n');
    const args = ['import-legacy', '-', '--format', 'git-worktree-porcelain'];
    const elsewhere = await observing.observe([...args, '--repo', join(dir, 'bare')], lines);
    expect(outcomesOf(elsewhere.json)).toEqual([
      'skipped other_repository',
      'skipped bare',
      'uncertain not_a_worktree',
    ]);
    const here = await observing.observe([...args, '--repo', repo], lines);
    expect(outcomesOf(here.json)).toEqual(['imported', 'skipped bare', 'uncertain not_a_worktree']);
    expect((await observing.observe(['coverage'])).json.data.worktrees).toMatchObject([{ path: repo }]);
  });

  it('is uncertain where it cannot be told what lies there, and nobody waits for it', async () => {
    const observing = new Observing();
    const odd: readonly (readonly [name: string, (path: string) => void, reason: string])[] = [
      ['leads-nowhere', (path) => put(path, 'gitdir: /nowhere\n'), 'git_pointer_broken'],
      ['another-form', (path) => put(path, 'somewhere'), 'git_pointer_broken'],
      ['a-file', (path) => writeFileSync(path, ''), 'not_a_directory'],
      ['a-fifo-for-a-pointer', fifo, 'git_pointer_broken'],
      ['below-a-file', (path) => symlinkSync(join(observing.repo, 'README.md', 'x'), path), 'directory_missing'],
    ];
    const worktrees = odd.map(([id, make]) => {
      const path = join(observing.dir, id);
      make(path);
      return { id, path };
    });
    const answer = await observing.import(observing.document({ worktrees }));
    expect(outcomesOf(answer.json)).toEqual(odd.map(([, , reason]) => `uncertain ${reason}`));
  });
});

function put(path: string, pointer: string): void {
  mkdirSync(path);
  writeFileSync(join(path, '.git'), pointer);
}

function fifo(path: string): void {
  mkdirSync(path);
  execFileSync('mkfifo', [join(path, '.git')]);
}

describe('INT-07, INT-08: a document', () => {
  const parts = ({ repo, dir }: Observing) => ({
    worktrees: [
      { id: 'w', path: repo },
      { id: 'gone', path: join(dir, 'gone') },
    ],
    runs: [{ id: 'r', exit: { code: 0 } }, { id: 's' }, { id: 's', endedWallMs: 1 }, { id: 't' }, { id: 't' }],
    bindings: [
      { run: 'r', worktree: 'w' },
      { run: 's', worktree: 'gone' },
      { run: 'nobody', worktree: 'w' },
    ],
  });
  const expected = (went: string) => [
    went,
    'uncertain directory_missing',
    went,
    went,
    'conflict other_contents_in_this_source',
    went,
    'known repeated',
    went,
    'uncertain worktree_uncertain',
    'refused unknown_run',
  ];

  it('says what became of each record, alike in a dry run that leaves no trace, and of nothing new the second time', async () => {
    const observing = new Observing();
    const source = observing.document(parts(observing));
    chmodSync(source, 0o400);
    const [digest, { mtimeMs }] = [sha256(source), statSync(source)];
    const dry = await observing.import(source, '--dry-run');
    expect(dry).toMatchObject({ code: 11, json: { data: { dryRun: true, unresolved: 3 } } });
    expect(outcomesOf(dry.json)).toEqual(expected('imported'));
    expect(existsSync(observing.stateDir)).toBe(false);
    const first = await observing.import(source);
    expect(outcomesOf(first.json)).toEqual(expected('imported'));
    expect(first).toMatchObject({ code: 11, json: { data: { gaps: { launch_missing: 3, place_missing: 2 } } } });
    const store = everything(observing.stateDir);
    expect(outcomesOf((await observing.import(source, '--dry-run')).json)).toEqual(expected('known'));
    expect(everything(observing.stateDir)).toEqual(store);
    const again = await observing.import(source);
    expect(outcomesOf(again.json)).toEqual(expected('known'));
    expect(again.json.data).toMatchObject({ counts: { imported: 0 }, source: { sha256: digest } });
    expect(everything(observing.stateDir)).toEqual(store);
    expect([sha256(source), statSync(source).mtimeMs]).toEqual([digest, mtimeMs]);
    expect((await observing.observe(['status'])).json.data.runs).toMatchObject({ bound: 0, unbound: 3, withGaps: 3 });
  });

  it('takes the directory in once it is there, and then what was bound to it', async () => {
    const observing = new Observing();
    const source = observing.document(parts(observing));
    await observing.import(source);
    git(observing.repo, 'worktree', 'add', '-q', '-b', 'back', join(observing.dir, 'gone'));
    const outcomes = outcomesOf((await observing.import(source)).json);
    expect([outcomes[1], outcomes[8]]).toEqual(['imported', 'imported']);
  });

  it('PRIV-01: keeps nothing of what a tool has besides, wherever it stands', async () => {
    const observing = new Observing();
    const canary = `canary${process.pid}x`;
    const secrets = { command: `do ${canary}`, env: { [canary]: canary }, prompt: canary };
    const source = observing.document({
      worktrees: [
        { id: 'w', path: observing.repo, ...secrets },
        { id: 'v', path: observing.repo },
      ],
      runs: [
        { id: 'a', ...secrets },
        { id: 'b', process: { pid: 1, cmdline: canary } },
        { id: canary.repeat(20) },
        { id: 'c' },
      ],
      bindings: [{ run: canary, worktree: 'v' }],
    });
    const list = `worktree ${observing.repo}\nHEAD ${'a'.repeat(40)}\ndetached\nlocked ${canary}\n\n`;
    expect((await observing.import(source)).json.data.counts).toMatchObject({ imported: 2, invalid: 4, refused: 1 });
    await observing.observe(['import-legacy', '-', '--format', 'git-worktree-porcelain'], list);
    await observing.observe(['reconcile']);
    const files = readdirSync(observing.stateDir, { recursive: true }) as string[];
    const held = files.map((name) => join(observing.stateDir, name)).filter((path) => statSync(path).isFile());
    expect(held.filter((path) => readFileSync(path).includes(canary))).toEqual([]);
  });

  it('that cannot be read as one is refused with a reason, and no store is made for it', async () => {
    const observing = new Observing();
    const below = (name: string) => join(observing.dir, name);
    execFileSync('mkfifo', [below('fifo')]);
    execFileSync('truncate', ['-s', '33M', below('large')]);
    writeFileSync(below('odd'), Buffer.from([0x7b, 0xff]));
    for (const [source, code] of [
      ['/no/such/file', 'input_unreadable'],
      [observing.dir, 'input_unreadable'],
      ['/dev/zero', 'input_unreadable'],
      [below('fifo'), 'input_unreadable'],
      [below('large'), 'input_too_large'],
      [below('odd'), 'document_invalid'],
    ] as const)
      expect(await observing.import(source)).toMatchObject({ code: 2, json: { ok: false, error: { code } } });
    expect(existsSync(observing.stateDir)).toBe(false);
  });

  it('a format that is none, and none at all, are wrong usage', async () => {
    const observing = new Observing();
    for (const args of [['--format', 'xml'], []])
      expect((await observing.observe(['import-legacy', '-', ...args])).json.error.code).toBe('usage');
  });
});

describe('FAULT-01, FAULT-02: killed at any instant', () => {
  const kills = process.env.CUSTODY_SOAK === '1' ? 200 : 3;

  it('an import that is repeated ends as if it had not been killed', async ({ annotate }) => {
    const observing = new Observing();
    const { process: theirs } = await job();
    const runs = (round: number) =>
      Array.from({ length: 150 }, (_, at) => ({
        id: `r${round}-${at}`,
        ...(at === 0 ? { process: claimOf(theirs) } : {}),
      }));
    let killed = 0;
    let round = 0;
    for (; killed < kills; round += 1) {
      const bindings = runs(round).map(({ id }) => ({ run: id, worktree: 'w' }));
      const worktrees = [{ id: 'w', path: observing.repo }];
      const source = observing.document({ worktrees, runs: runs(round), bindings });
      const args = ['import-legacy', source, '--format', 'custody-legacy/1'];
      const child = spawn(process.execPath, [cliProgram, 'observe', ...args], { env: observing.env, stdio: 'ignore' });
      // Seeded: somewhere in what one takes here, from the start of the process on.
      const timer = setTimeout(() => child.kill('SIGKILL'), 100 + ((round * 97) % 500));
      const [, signal] = await once(child, 'exit');
      clearTimeout(timer);
      if (signal === 'SIGKILL') killed += 1;
      expect((await observing.observe(args)).json.data.counts).toMatchObject({ conflict: 0, refused: 0, invalid: 0 });
      expect((await observing.observe(args)).json.data.counts).toMatchObject({ imported: 0, known: 301 });
    }
    const { claims } = (await observing.observe(['reconcile'])).json.data;
    expect(claims).toEqual({ bound: 1, refuted: round - 1, open: 0 });
    expect((await observing.observe(['status'])).json.data.runs).toMatchObject({ bound: 1, unbound: round * 150 - 1 });
    await annotate(`${killed} kills of an import`);
  });
});
