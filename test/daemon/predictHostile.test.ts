/** Repositories and files that somebody prepared: nothing of theirs runs, nothing changes, nothing hangs (ruling 25). */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseList, parseStatus } from '../../actors/daemon/prediction/worktreeStatus.ts';
import {
  codesOf,
  commit,
  factOf,
  git,
  mergedWork,
  type PredictionDaemon,
  predictionDaemon,
  put,
  type Spot,
  servingPredictions,
  squash,
} from './support/prediction.ts';

const daemon = servingPredictions();

/** A program that says by a file that it was run. */
function trap(name: string, { home } = daemon): { readonly program: string; readonly sprung: () => string[] } {
  const directory = join(home.dir, name);
  mkdirSync(directory);
  const program = join(directory, 'trap');
  writeFileSync(program, `#!/bin/sh\ntouch "${directory}/sprung-$$"\ncat\n`);
  chmodSync(program, 0o755);
  return { program, sprung: () => readdirSync(directory).filter((one) => one.startsWith('sprung')) };
}

/** Everything that a configuration can have git run while it looks, and a file for which it would. */
function prepared(gitDir: string, program: string): void {
  mkdirSync(join(gitDir, 'info'), { recursive: true });
  appendFileSync(join(gitDir, 'info', 'attributes'), '* filter=evil diff=evil merge=evil\n');
  const hooks = join(gitDir, 'evil-hooks');
  mkdirSync(hooks);
  for (const hook of [
    'post-index-change',
    'fsmonitor-watchman',
    'reference-transaction',
    'post-checkout',
    'pre-auto-gc',
  ]) {
    writeFileSync(join(hooks, hook), `#!/bin/sh\nexec "${program}"\n`, { mode: 0o755 });
  }
  const settings = {
    ...{ 'core.fsmonitor': program, 'core.hooksPath': hooks, 'core.pager': program, 'core.sshCommand': program },
    ...{ 'core.askPass': program, 'core.editor': program, 'gpg.program': program, 'log.showSignature': 'true' },
    ...{ 'filter.evil.clean': program, 'filter.evil.smudge': program, 'filter.evil.required': 'true' },
    ...{ 'diff.evil.textconv': program, 'diff.evil.command': program, 'diff.external': program },
    ...{ 'merge.evil.driver': program, 'alias.status': `!${program}`, 'core.alternateRefsCommand': program },
    ...{ 'remote.origin.url': `ext::${program}`, 'protocol.ext.allow': 'always', 'remote.origin.promisor': 'true' },
    ...{
      'credential.helper': program,
      'uploadpack.packObjectsHook': program,
      'gc.auto': '1',
      'status.submoduleSummary': 'true',
    },
  };
  for (const [name, value] of Object.entries(settings))
    git(gitDir, 'config', '--file', join(gitDir, 'config'), name, value);
}

/** So that git has to read it again to know whether it has changed. */
const touched = (path: string): void => utimesSync(path, 1_000_000_000, 1_000_000_000);

describe('a repository that would run programs', () => {
  it('runs none, whatever has to be asked', async () => {
    // An installation of its own: whatever else is done in this repository would spring the trap.
    const apart = predictionDaemon();
    onTestFinished(() => apart.dispose());
    await apart.start();
    const { program, sprung } = trap('trap', apart);
    const spots: Spot[] = [];
    for (let at = 0; at < 3; at += 1)
      spots.push(await apart.spot((spot) => void commit(spot, `h-${spot.generationId}`)));
    squash(spots[0]!);
    squash(spots[1]!);
    commit({ path: spots[1]!.repo }, `h-${spots[1]!.generationId}`, 'changed again\n');
    put(spots[2]!, 'README.md', 'stashed\n');
    git(spots[2]!.path, 'stash');
    for (const { path } of spots) touched(join(path, 'README.md'));
    prepared(join(apart.home.repo, '.git'), program);
    const found = [];
    for (const spot of spots) found.push(codesOf(await apart.predict(spot)));
    expect(sprung()).toEqual([]);
    expect(found).toEqual([[], [], ['stash', 'unmerged_commits']]);
    // The trap itself is one: the same question, asked plainly.
    execFileSync('git', ['status'], { cwd: spots[0]!.path, stdio: 'ignore' });
    expect(sprung()).not.toEqual([]);
  });
});

describe('a submodule', () => {
  let daemonOfIts: PredictionDaemon;
  beforeAll(async () => {
    daemonOfIts = predictionDaemon();
    await daemonOfIts.start();
  });
  afterAll(() => daemonOfIts.dispose());

  const library = (): string => {
    const path = mkdtempSync(join(daemonOfIts.home.dir, 'library-'));
    git(path, 'init', '-q', '-b', 'main');
    commit({ path }, 'lib');
    return path;
  };
  const leftBranch = (path: string): void => {
    git(path, 'checkout', '-q', '-b', 'left');
    commit({ path }, 'left');
    git(path, 'checkout', '-q', 'main');
  };
  const added = (spot: Spot): string => {
    for (const { path } of [{ path: spot.repo }, spot])
      git(path, 'reset', '-q', '--hard', git(path, 'rev-list', '--max-parents=0', 'HEAD'));
    git(spot.path, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', library(), 'sub');
    git(spot.path, 'commit', '-qm', 'a submodule');
    squash(spot);
    return join(spot.path, 'sub');
  };

  it.each<readonly [string, readonly string[], (sub: string, spot: Spot) => void]>([
    ['as it was committed', [], () => undefined],
    ['with an edit', ['submodule_changes'], (path) => put({ path }, 'lib', 'edited\n')],
    ['with an untracked file', ['submodule_changes'], (path) => put({ path }, 'new')],
    ['at another commit', ['submodule_changes'], (path) => void commit({ path }, 'more')],
    [
      'at a commit that is recorded, and that no remote has',
      ['submodule_changes'],
      (path, spot) => {
        commit({ path }, 'more');
        git(spot.path, 'commit', '-qam', 'move it');
        git(spot.repo, 'cherry-pick', spot.branch);
      },
    ],
    [
      'with a stash',
      ['submodule_changes'],
      (path) => {
        put({ path }, 'lib', 'stashed\n');
        git(path, 'stash');
      },
    ],
    ['with a branch that no remote has', ['submodule_changes'], (path) => leftBranch(path)],
    [
      'with a branch that no remote has, and not checked out any more',
      ['submodule_changes'],
      (path, spot) => {
        leftBranch(path);
        git(spot.path, 'submodule', 'deinit', '-q', '-f', 'sub');
      },
    ],
  ])('%s → %j', async (_, codes, prepare) => {
    const spot = await daemonOfIts.spot((one) => prepare(added(one), one));
    const prediction = await daemonOfIts.predict(spot);
    expect([...new Set(codesOf(prediction))], JSON.stringify(prediction.blockers)).toEqual(codes);
  });

  it('runs nothing of its own configuration', async () => {
    const { program, sprung } = trap('trap-below');
    const spot = await daemonOfIts.spot((one) => {
      const path = added(one);
      prepared(git(path, 'rev-parse', '--absolute-git-dir'), program);
      touched(join(path, 'lib'));
    });
    expect(codesOf(await daemonOfIts.predict(spot))).toEqual([]);
    expect(sprung()).toEqual([]);
    execFileSync('git', ['status'], { cwd: join(spot.path, 'sub'), stdio: 'ignore' });
    expect(sprung()).not.toEqual([]);
  });
});

/** Every file with its content, its identity and its times. */
function inventory(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    const { ino, mode, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
    const content = entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
    const target = entry.isSymbolicLink() ? readlinkSync(path) : '';
    const own = [path, ino, mode, size, mtimeNs, ctimeNs, content, target].join(' ');
    return entry.isDirectory() ? [own, ...inventory(path)] : [own];
  });
}

it('leaves every file of the repository and of the worktree as it is, the times of the index included', async () => {
  const merged = await daemon.spot(mergedWork);
  const open = await daemon.spot((spot) => void commit(spot, `open-${spot.generationId}`));
  for (const { path } of [merged, open]) touched(join(path, 'README.md'));
  const all = () => [daemon.home.repo, merged.path, open.path].flatMap(inventory);
  const before = all();
  await daemon.predict(merged);
  await daemon.predict(open, { ignored: true });
  expect(all()).toEqual(before);
  // What a plain look does to an index whose times are old.
  git(merged.path, 'status');
  expect(all()).not.toEqual(before);
  expect(readdirSync(join(daemon.home.stateDir, 'inspections'))).toEqual([]);
});

describe('files that are none', () => {
  it('a FIFO among the files is nobody’s work, and is not waited for', async () => {
    const spot = await daemon.spot((one) => {
      mergedWork(one);
      execFileSync('mkfifo', [join(one.path, 'pipe')]);
    });
    expect(await daemon.predict(spot)).toMatchObject({ eligible: true });
  });

  it('a FIFO that git reads is given up after the limit, and protects; nobody of the look is left', async () => {
    const spot = await daemon.spot((one) => {
      mergedWork(one);
      execFileSync('mkfifo', [join(one.path, '.gitignore')]);
    });
    const prediction = await daemon.predict(spot, { limitMs: 1_000 });
    expect(codesOf(prediction)).toContain('inspection_timeout');
    expect(prediction.eligible).toBe(false);
    const { scopes } = await daemon.call('processes', {});
    expect(scopes.filter(({ purpose }) => purpose?.startsWith('look:'))).toEqual([]);
  });
});

describe('names', () => {
  it('with line feeds, escapes and bytes that are no text are counted one by one', async () => {
    const names = ['line\nfeed', '\u001b[31mred', ' blanks ', '-rf', 'tab\tand"quote'].map((name) => Buffer.from(name));
    names.push(Buffer.from([0xff, 0xfe, 0x41]));
    const spot = await daemon.spot((one) => {
      mergedWork(one);
      for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${one.path}/`), name]), '');
    });
    const fact = factOf(await daemon.predict(spot), 'untracked_files');
    expect(fact).toMatchObject({ count: names.length });
    expect(fact!.named).toEqual(expect.arrayContaining(['line\nfeed', '\u001b[31mred', ' blanks ', '-rf']));
    expect(fact!.detail).not.toMatch(/\p{Cc}/u);
  });

  it('are read out of git’s answers whatever is in them', () => {
    const status = [
      '# branch.oid 1234567890123456789012345678901234567890',
      '# branch.head a (branch)',
      '1 .M N... 100644 100644 100644 a b name with\nline feed',
      '2 R. N... 100644 100644 100644 a b R100 to here',
      'from there',
      'u UU N... 1 2 3 4 5 6 7 both ',
      '1 .M SC.. 160000 160000 160000 a b sub module',
      '? new',
      '! ignored/',
    ].join('\0');
    expect(parseStatus(Buffer.from(`${status}\0`))).toEqual({
      head: '1234567890123456789012345678901234567890',
      branch: 'a (branch)',
      changed: ['name with\nline feed', 'to here', 'both '],
      moved: ['sub module'],
      untracked: ['new'],
      ignoredNames: ['ignored/'],
    });
    const list = [
      'H 100644 a 0\tplain',
      'h 100644 a 0\tassumed\n',
      'S 100644 a 0\tskipped',
      'H 160000 a 0\tsub\tmodule',
    ];
    expect(parseList(Buffer.from(`${list.join('\0')}\0`))).toEqual({
      submodules: ['sub\tmodule'],
      flagged: [
        { tag: 'h', path: 'assumed\n' },
        { tag: 'S', path: 'skipped' },
      ],
    });
    expect(parseStatus(Buffer.from('# branch.oid (initial)\0# branch.head (detached)\0'))).toMatchObject({
      head: null,
      branch: null,
    });
  });
});
