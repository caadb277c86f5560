/** Who controls a worktree generation, and how that changes (INT-09, PROMO-01, PROMO-05, BIND-02, BIND-03, I-20). */
import {
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
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TestDaemon, testDaemon } from '../support/daemon.ts';
import { daemonHome } from '../support/daemonHome.ts';
import { authorityRecord, control, foreignWorktree, git, uncontrolled, watched } from './support/generations.ts';

const unusable = { code: 'not_a_repository', exitCode: 13 };

describe('a worktree that exists (WT-01, INT-09)', () => {
  it('is watched and keeps its controller; neither it nor its repository is touched', async () => {
    const daemon = await testDaemon().start();
    const path = foreignWorktree(daemon);
    const before = [readdirSync(join(daemon.home.repo, '.git')), readdirSync(path), statSync(path).mtimeMs];
    const view = await daemon.call('worktrees.register', { path });
    expect(view).toMatchObject({
      ...{ path, branch: 'theirs', lifecycle: 'open', authority: 'observe', controller: 'legacy', origin: 'legacy' },
      ...{ baseCommit: git(path, 'rev-parse', 'HEAD').trim(), goalId: null, repoId: null, evidence: [], isNew: true },
    });
    expect([readdirSync(join(daemon.home.repo, '.git')), readdirSync(path), statSync(path).mtimeMs]).toEqual(before);
    expect(authorityRecord(daemon)).toBeUndefined();
  });

  it('is the same generation under whatever path, also when it was moved, and after a restart', async () => {
    const daemon = await testDaemon().start();
    const path = foreignWorktree(daemon);
    const { generationId } = await daemon.call('worktrees.register', { path, controller: 'ci' });
    const link = join(daemon.home.dir, 'link');
    symlinkSync(path, link);
    const both = await Promise.all([path, link].map((each) => daemon.call('worktrees.register', { path: each })));
    for (const again of both)
      expect(again).toMatchObject({ generationId, controller: 'ci', origin: 'observed', isNew: false });
    git(daemon.home.repo, 'worktree', 'move', path, `${path}-moved`);
    await daemon.restart();
    const moved = await daemon.call('worktrees.register', { path: `${path}-moved` });
    expect(moved).toMatchObject({ generationId, isNew: false });
  });

  it('is registered once when it is asked for at the same time', async () => {
    const daemon = await testDaemon().start();
    const path = foreignWorktree(daemon);
    const views = await Promise.all(Array.from({ length: 8 }, () => daemon.call('worktrees.register', { path })));
    expect(new Set(views.map(({ generationId }) => generationId)).size).toBe(1);
    expect(views.filter(({ isNew }) => isNew)).toHaveLength(1);
  });

  it('made anew at the path is another generation, and the old one hears of it', async () => {
    const daemon = await testDaemon().start();
    const path = foreignWorktree(daemon);
    const old = await daemon.call('worktrees.register', { path });
    git(daemon.home.repo, 'worktree', 'remove', path);
    git(daemon.home.repo, 'worktree', 'add', '-q', path, 'theirs');
    const made = await daemon.call('worktrees.register', { path });
    expect(made).toMatchObject({ isNew: true, pathObservation: null });
    expect(made.generationId).not.toBe(old.generationId);
    const { pathObservation, lifecycle } = await daemon.call('worktrees.show', { id: old.generationId });
    expect({ pathObservation, lifecycle }).toEqual({ pathObservation: 'replaced', lifecycle: 'open' });
    await daemon.call('worktrees.register', { path });
    expect(await daemon.events({ actor: old.generationId, type: 'path.observed' })).toHaveLength(1);
  });

  it('repeats a request with its id, and refuses the id for something else', async () => {
    const daemon = await testDaemon().start();
    const path = foreignWorktree(daemon);
    const first = await daemon.call('worktrees.register', { path, requestId: 'q' });
    expect(await daemon.call('worktrees.register', { path, requestId: 'q' })).toMatchObject({
      generationId: first.generationId,
    });
    const other = { path: foreignWorktree(daemon, 'other'), requestId: 'q' };
    expect(await daemon.refusal('worktrees.register', other)).toMatchObject({
      code: 'event_id_conflict',
      exitCode: 11,
    });
  });

  it.each([
    ['nothing', () => undefined, { code: 'not_found', exitCode: 3 }],
    ['a directory in no repository', (path: string) => mkdirSync(path), unusable],
    ['a file', (path: string) => writeFileSync(path, ''), unusable],
    ['a pointer that leads nowhere', (path: string) => pointer(path, 'gitdir: /nowhere\n'), unusable],
    ['a pointer to itself', (path: string) => pointer(path, `gitdir: ${path}\n`), unusable],
  ])('refuses %s', async (_, make, expected) => {
    const daemon = await testDaemon().start();
    const path = join(daemon.home.dir, 'place');
    make(path);
    const refusal = await daemon.refusal('worktrees.register', { path });
    expect(refusal).toMatchObject(expected);
    expect((await daemon.call('worktrees.list', { all: true })).worktrees).toEqual([]);
  });

  it('refuses what is below the top, a bare repository, and our own name', async () => {
    const daemon = await testDaemon().start();
    const path = foreignWorktree(daemon);
    mkdirSync(join(path, 'below'));
    const below = await daemon.refusal('worktrees.register', { path: join(path, 'below') });
    expect(below).toMatchObject({ code: 'not_a_worktree', exitCode: 13, next: [expect.stringContaining(path)] });
    git(daemon.home.dir, 'init', '-q', '--bare', 'bare');
    const bare = await daemon.refusal('worktrees.register', { path: join(daemon.home.dir, 'bare') });
    expect(bare).toMatchObject({ code: 'not_a_worktree', exitCode: 13 });
    expect(await daemon.refusal('worktrees.register', { path, controller: 'custody' })).toMatchObject({ exitCode: 2 });
    expect(await daemon.refusal('worktrees.register', { path, controller: 'No Name' })).toMatchObject({ exitCode: 2 });
  });
});

function pointer(path: string, text: string): void {
  mkdirSync(path);
  writeFileSync(join(path, '.git'), text);
}

describe('whoever is not in control (PROMO-01)', () => {
  it('closes, seals, retires and runs nothing there, and issues no ticket', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id } = await watched(daemon);
    const { goalId } = await daemon.call('goals.add', {
      title: 'a goal',
      repo: daemon.home.repo,
      request: 'x',
      queue: true,
    });
    const refusals = [
      await daemon.refusal('worktrees.close', { id }),
      await daemon.refusal('worktrees.seal', { id }),
      await daemon.refusal('worktrees.retire', { id, receipt: '{}' }),
      await daemon.refusal('worktrees.ticket', { id, executor: 'custody-remove' }),
      await daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true', { generationId: id })),
      await uncontrolled(daemon, id, { change: 'handoff', to: 'ci' }),
      await uncontrolled(daemon, id, { change: 'abandon' }),
    ];
    for (const refusal of refusals)
      expect(refusal).toMatchObject({ code: 'not_controller', exitCode: 4, details: { controller: 'legacy' } });
    expect(await daemon.call('worktrees.show', { id })).toMatchObject({ lifecycle: 'open', authority: 'observe' });
  });
});

describe('taking over (INT-09)', () => {
  it('takes evidence, never a grant, and is recorded where every installation finds it', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id, path } = await watched(daemon);
    expect(await uncontrolled(daemon, id, { change: 'grant' })).toMatchObject({
      code: 'grant_refused',
      details: { blockers: expect.arrayContaining([expect.objectContaining({ code: 'has_history' })]) },
    });
    // A claim for what was refused would keep everybody else out.
    expect(authorityRecord(daemon)).toBeUndefined();
    const bare = await uncontrolled(daemon, id, { change: 'migrate' });
    expect(bare).toMatchObject({
      code: 'migration_refused',
      exitCode: 13,
      details: { blockers: [{ code: 'no_evidence' }] },
    });
    const evidence = ['tickets/4711', 'reports/1'];
    const ours = await control(daemon, id, { change: 'migrate', evidence });
    expect(ours).toMatchObject({ authority: 'managed', controller: 'custody', authorityEpoch: 2, evidence });
    expect(authorityRecord(daemon)?.generations).toEqual({
      [id]: { controller: 'custody', mode: 'managed', authorityEpoch: 2, path },
    });
    const shown = await daemon.call('worktrees.show', { id });
    expect(shown).toMatchObject({
      authority: 'managed',
      controller: 'custody',
      authorityEpoch: 2,
      evidence,
      handoff: null,
    });
    expect(await uncontrolled(daemon, id, { change: 'migrate', evidence })).toMatchObject({
      code: 'preconditions_unmet',
      exitCode: 13,
    });
    await daemon.call('worktrees.close', { id });
    expect((await daemon.call('worktrees.seal', { id })).lifecycle).toBe('sealed');
  });

  it('waits for the directory to be the recorded one', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id, path } = await watched(daemon);
    renameSync(path, `${path}.gone`);
    const refusal = await uncontrolled(daemon, id, { change: 'migrate', evidence: ['e'] });
    expect(refusal).toMatchObject({ code: 'generation_missing', exitCode: 13 });
    expect(authorityRecord(daemon)).toBeUndefined();
  });

  it('never succeeds in a repository that another installation controls, and may when that has given it up', async () => {
    const first = await testDaemon().start();
    const theirs = await first.goal();
    const other = new TestDaemon({ ...daemonHome(), repo: first.home.repo });
    onTestFinished(() => other.dispose());
    await other.start();
    const { generationId: id } = await other.call('worktrees.register', { path: theirs.path });
    await other.event({ actor: id, type: 'contract.verified' });
    const refusal = await uncontrolled(other, id, { change: 'migrate', evidence: ['e'] });
    expect(refusal).toMatchObject({ code: 'not_controller', exitCode: 4 });
    expect(await other.call('worktrees.show', { id })).toMatchObject({ authority: 'observe', authorityEpoch: 1 });

    await first.call('worktrees.close', { id: theirs.generationId });
    await control(first, theirs.generationId, { change: 'handoff', to: 'the-other' });
    expect(authorityRecord(first)).toBeUndefined();
    await control(other, id, { change: 'migrate', evidence: ['e'] });
    expect(Object.keys(authorityRecord(first)?.generations ?? {})).toEqual([id]);
    // The first one finds that out before it makes or takes anything.
    expect(await first.refusal('worktrees.add', { goalId: theirs.goalId })).toMatchObject({ code: 'not_controller' });
    const back = await uncontrolled(first, theirs.generationId, { change: 'migrate', evidence: ['e'] });
    expect(back).toMatchObject({ code: 'not_controller', exitCode: 4 });
  });
});

describe('two decisions that race (PROMO-01)', () => {
  it('are ordered by the version that they were made on: one wins', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id, version } = await watched(daemon);
    const current = (await daemon.call('worktrees.show', { id })).version;
    expect(current).toBeGreaterThan(version - 1);
    const decisions = await Promise.all(
      ['a', 'b', 'c', 'd'].map((ref) =>
        daemon.attempt('worktrees.authority', { id, change: 'migrate', evidence: [ref], expectVersion: current }),
      ),
    );
    const won = decisions.filter(({ ok }) => ok);
    const lost = decisions.flatMap((reply) => (reply.ok ? [] : [reply.error]));
    expect(won).toHaveLength(1);
    for (const error of lost) expect(error).toMatchObject({ exitCode: expect.toBeOneOf([11, 13]) });
    expect(await daemon.call('worktrees.show', { id })).toMatchObject({ authorityEpoch: 2 });
    const late = await uncontrolled(daemon, id, { change: 'handoff', to: 'legacy', expectVersion: current });
    expect(late).toMatchObject({ code: 'version_conflict', exitCode: 11 });
  });

  it('are one when the request is', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id } = await watched(daemon);
    const request = { evidence: ['e'], requestId: 'q' };
    await control(daemon, id, { change: 'migrate', ...request });
    expect(await control(daemon, id, { change: 'migrate', ...request })).toMatchObject({ authorityEpoch: 2 });
  });
});

describe('giving control away (PROMO-05)', () => {
  it('waits for the scope that is not proved, names it, and is completed by its proof', async () => {
    const daemon = await testDaemon().start();
    const { goalId, generationId: id } = await daemon.goal();
    const { runId } = await daemon.exec(goalId, 'setsid sleep 600 & echo started', { onRootExit: 'wait' });
    await daemon.ended(runId);
    const [scopeId] = Object.keys((await daemon.call('worktrees.show', { id })).runs[0]!.scopes);
    const asked = await daemon.attempt('worktrees.authority', { id, change: 'handoff', to: 'legacy' });
    expect(asked).toMatchObject({
      ok: true,
      exitCode: 5,
      warnings: [/open/, /not proved|proves/].map((each) => expect.stringMatching(each)),
    });
    const leaving = await daemon.call('worktrees.show', { id });
    expect(leaving).toMatchObject({ authority: 'quiescing', controller: 'custody', handoff: { to: 'legacy' } });
    expect(leaving.handoff!.waitsFor.map(({ code, scopeId }) => [code, scopeId])).toEqual([
      ['not_closed', undefined],
      ['scope_unproved', scopeId],
    ]);
    expect(authorityRecord(daemon)?.generations).toMatchObject({ [id]: { mode: 'quiescing' } });
    expect(
      await daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true', { generationId: id })),
    ).toMatchObject({
      exitCode: expect.toBeOneOf([4, 13]),
    });
    await daemon.call('worktrees.close', { id });
    expect(await daemon.call('worktrees.show', { id })).toMatchObject({ authority: 'quiescing', lifecycle: 'closing' });
    // Nobody has to come by: the daemon may even be another one by then.
    await daemon.restart();
    await daemon.call('runs.stop', { id: runId });
    await daemon.event({ actor: id, type: 'authority.handedOff' });
    expect(await daemon.call('worktrees.show', { id })).toMatchObject({
      ...{ authority: 'observe', controller: 'legacy', authorityEpoch: 3, lifecycle: 'closing', handoff: null },
    });
    expect(authorityRecord(daemon)).toBeUndefined();
    expect(await daemon.refusal('worktrees.seal', { id })).toMatchObject({ code: 'not_controller', exitCode: 4 });
    expect(await daemon.refusal('worktrees.close', { id })).toMatchObject({ code: 'not_controller', exitCode: 4 });
  });

  it('can be given up, and needs a name that is not ours', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id } = await daemon.goal();
    for (const to of [undefined, 'custody'])
      expect(await uncontrolled(daemon, id, { change: 'handoff', ...(to === undefined ? {} : { to }) })).toMatchObject({
        code: 'usage',
        exitCode: 2,
      });
    await control(daemon, id, { change: 'handoff', to: 'legacy' });
    const kept = await control(daemon, id, { change: 'abandon' });
    expect(kept).toMatchObject({ authority: 'managed', controller: 'custody', authorityEpoch: 3, handoff: null });
    expect(authorityRecord(daemon)?.generations).toMatchObject({ [id]: { mode: 'managed', authorityEpoch: 3 } });
    expect(await uncontrolled(daemon, id, { change: 'abandon' })).toMatchObject({
      code: 'preconditions_unmet',
      exitCode: 13,
    });
  });

  it('keeps the claim while anything else of the repository is under control', async () => {
    const daemon = await testDaemon().start();
    const one = await daemon.goal();
    const two = await daemon.goal();
    await daemon.call('worktrees.close', { id: one.generationId });
    await control(daemon, one.generationId, { change: 'handoff', to: 'legacy' });
    expect(Object.keys(authorityRecord(daemon)?.generations ?? {})).toEqual([two.generationId]);
  });

  it('is no setting: nothing but the event changes it, and a record that was lost is written again', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id } = await daemon.goal();
    const record = join(daemon.home.repo, '.git', 'custody.json');
    rmSync(record);
    await daemon.restart();
    expect(existsSync(record)).toBe(true);
    expect(JSON.parse(readFileSync(record, 'utf8')).generations).toMatchObject({ [id]: { mode: 'managed' } });
    expect(await daemon.call('worktrees.show', { id })).toMatchObject({ authority: 'managed', authorityEpoch: 2 });
  });
});

describe('epochs (BIND-02, BIND-03)', () => {
  it('only grow: across restarts, handoffs and controllers; and a larger one proves nothing', async () => {
    const daemon = await testDaemon().start();
    const { goalId, generationId: id } = await daemon.goal();
    const seen: (readonly [number, number])[] = [];
    const look = async () => {
      const { authorityEpoch, ownershipEpoch } = await daemon.call('worktrees.show', { id });
      seen.push([authorityEpoch, ownershipEpoch]);
    };
    const admit = async (script = 'true') => {
      const { runId } = await daemon.exec(goalId, script, { generationId: id, onRootExit: 'wait' });
      await daemon.ended(runId);
      await look();
      return runId;
    };
    const escapee = await admit('setsid sleep 600 & true');
    await daemon.restart();
    await admit();
    await control(daemon, id, { change: 'handoff', to: 'legacy' });
    await control(daemon, id, { change: 'abandon' });
    await admit();
    expect(seen).toEqual([
      [2, 1],
      [2, 2],
      [3, 3],
    ]);
    await daemon.event({ actor: id, type: 'contract.verified' });
    await daemon.call('worktrees.close', { id });
    const refusal = await daemon.refusal('worktrees.seal', { id });
    expect(refusal).toMatchObject({
      code: 'seal_refused',
      details: { blockers: [{ code: 'scope_unproved', runId: escapee }] },
    });
    await daemon.call('runs.stop', { id: escapee });
  });
});
