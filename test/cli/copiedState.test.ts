import { copyFileSync, cpSync, existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Installation, installation, refused } from './support/installation.ts';

let here: Installation;
afterEach(() => here.dispose());

describe('what a daemon announces in its state directory', () => {
  it('is nothing to a copy of that directory, and holds through a link to it', async () => {
    here = await installation();
    await here.ask(['goals', 'add', 'the goal of the original', '--request', 'README.md']);
    const copy = join(here.dir, 'copy');
    mkdirSync(join(copy, 'run'), { recursive: true, mode: 0o700 });
    copyFileSync(join(here.stateDir, 'run', 'daemon.json'), join(copy, 'run', 'daemon.json'));
    const link = join(here.dir, 'link');
    symlinkSync(here.stateDir, link);

    const list = (stateDir: string) =>
      here.custody(['goals', 'list', '--json', '--no-autostart', '--state-dir', stateDir]);
    expect(refused(await list(copy))).toMatchObject({ code: 'daemon_not_running', exitCode: 10 });
    expect((await list(link)).stdout).toContain('the goal of the original');
  });
});

describe('a state directory that is somewhere else than it was made', () => {
  async function sealable() {
    here = await installation();
    const { goalId, generationId } = await here.goalWithWorktree();
    await here.ask(['worktrees', 'close', generationId]);
    await here.ask(['daemon', 'stop']);
    return { goalId, generationId, other: join(here.dir, 'elsewhere') };
  }
  const at = (stateDir: string, args: readonly string[]) => here.custody([...args, '--state-dir', stateDir, '--json']);
  const seal = (stateDir: string, id: string) => at(stateDir, ['worktrees', 'seal', id]);
  const checks = async (stateDir: string) => JSON.parse((await at(stateDir, ['doctor'])).stdout).data.checks;

  it('is not served and seals nothing as a copy, says so everywhere, and can be adopted once the original is gone', {
    timeout: 240_000,
  }, async () => {
    const { generationId, other } = await sealable();
    cpSync(here.stateDir, other, { recursive: true });
    for (const command of [['status'], ['init'], ['init', '--check'], ['worktrees', 'close', generationId]]) {
      const refusal = refused(await at(other, command));
      expect(refusal).toMatchObject({ code: 'state_copied', exitCode: 9 });
      expect(refusal.message).toContain(`is a copy of ${here.stateDir}`);
    }
    expect(refused(await seal(other, generationId)).code).toBe('state_copied');
    expect(await checks(other)).toContainEqual(expect.objectContaining({ id: 'place', ok: false }));
    expect(await checks(here.stateDir)).toContainEqual(expect.objectContaining({ id: 'place', ok: true }));
    expect(refused(await at(other, ['init', '--adopt']))).toMatchObject({ code: 'original_in_place', exitCode: 6 });
    expect((await here.ask(['worktrees', 'show', generationId])).data.lifecycle).not.toBe('sealed');
    await here.ask(['daemon', 'stop']);

    renameSync(here.stateDir, `${here.stateDir}.old`);
    expect((await at(other, ['init', '--adopt'])).code).toBe(0);
    expect(await checks(other)).toContainEqual(expect.objectContaining({ id: 'place', ok: true }));
    // A copy may have missed what came after it: like every restored store it seals nothing in this boot (WT-04).
    expect(refused(await seal(other, generationId))).toMatchObject({
      code: 'seal_refused',
      details: { blockers: expect.arrayContaining([expect.objectContaining({ code: 'coverage_gap' })]) },
    });
    expect((await at(other, ['daemon', 'stop'])).code).toBe(0);
  });

  it('is told apart from a copy when it was moved, and served again where it was, or where it is adopted', {
    timeout: 240_000,
  }, async () => {
    const { generationId, other } = await sealable();
    renameSync(here.stateDir, other);
    const refusal = refused(await seal(other, generationId));
    expect(refusal).toMatchObject({
      code: 'state_moved',
      exitCode: 9,
      next: expect.arrayContaining(['custody init --adopt']),
    });
    renameSync(other, here.stateDir);
    expect((await here.ask(['status'])).data.health.state).toBe('ok');
    await here.ask(['daemon', 'stop']);
    renameSync(here.stateDir, other);
    expect((await at(other, ['init', '--adopt'])).code).toBe(0);
    expect((await at(other, ['status'])).code).toBe(0);
    expect((await at(other, ['daemon', 'stop'])).code).toBe(0);
    expect(existsSync(here.stateDir)).toBe(false);
  });
});

describe('a runtime directory', () => {
  it('of ours that is a link leads nowhere: the socket stays in the state directory, and doctor says so', async () => {
    here = await installation();
    const [runtime, target] = [join(here.dir, 'runtime'), join(here.dir, 'target')];
    mkdirSync(runtime, { mode: 0o700 });
    mkdirSync(target);
    symlinkSync(target, join(runtime, 'custody'));
    const env = { ...here.env, XDG_RUNTIME_DIR: runtime };
    const started = await here.custody(['daemon', 'start', '--json'], { env });
    expect(JSON.parse(started.stdout).data.socket).toBe(join(here.stateDir, 'run', 'api.sock'));
    const doctor = JSON.parse((await here.custody(['doctor', '--json'], { env })).stdout).data.checks;
    expect(doctor).toContainEqual(expect.objectContaining({ id: 'runtimeDirectory', severity: 'warning' }));
  });
});
