import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answered, type Installation, installation, refused } from './support/installation.ts';
import { withJson } from './support/program.ts';

let here: Installation;
let goalId: string;
let generationId: string;
let runId: string;

beforeAll(async () => {
  here = await installation();
});
afterAll(() => here.dispose());

const ask = (...args: string[]) => here.ask(args);
const refuse = async (...args: string[]) => refused(await here.custody(withJson(args)));

describe('every command answers one JSON object', () => {
  it('init: a second one changes nothing', async () => {
    const again = await here.custody(['init', '--json']);
    expect([0, 9]).toContain(again.code);
    expect((await ask('init', '--check')).command).toBe('init');
    expect(statSync(here.stateDir).mode & 0o777).toBe(0o700);
  });

  it('doctor and config, with and without a daemon', async () => {
    for (const state of ['stop', 'start']) {
      await here.custody(['daemon', state]);
      expect((await ask('config')).data.values.length).toBeGreaterThan(5);
      const doctor = await here.custody(['doctor', '--json']);
      expect([0, 13]).toContain(doctor.code);
      expect(JSON.parse(doctor.stdout).data.checks[0]).toMatchObject({
        id: expect.any(String),
        ok: expect.any(Boolean),
      });
    }
  });

  it('daemon status', async () => {
    expect((await ask('daemon', 'status')).data).toMatchObject({ running: true, pid: here.daemonPid() });
    expect((await ask('daemon', 'start')).data).toMatchObject({ running: true, started: false });
  });

  it('repos add, list', async () => {
    const { repoId } = (await ask('repos', 'add')).data;
    expect((await ask('repos', 'add', here.repo)).data.repoId).toBe(repoId);
    expect((await ask('repos', 'list')).data.repositories).toEqual([
      expect.objectContaining({ repoId, path: here.repo }),
    ]);
  });

  it('goals add, list, show, queue', async () => {
    const added = answered(
      await here.custody(['goals', 'add', 'make it so', '--request', '-', '--priority', '5', '--json'], {
        input: 'secret-canary-request',
      }),
    );
    goalId = added.data.goalId;
    expect(added).toMatchObject({ command: 'goals.add', data: { status: 'backlog', priority: 5, round: 1 } });
    expect(added.journalPosition).toBeGreaterThan(0);
    expect((await ask('goals', 'list', '--status', 'backlog')).data.goals).toHaveLength(1);
    const { revision } = (await ask('goals', 'show', goalId, '--evidence', '--history')).data;
    const stale = await refuse('goals', 'queue', goalId, '--expect-revision', String(revision + 7));
    expect(stale).toMatchObject({ exitCode: 11 });
    const queued = (await ask('goals', 'queue', goalId, '--expect-revision', String(revision))).data;
    expect(queued).toMatchObject({ goalId, status: 'todo' });
  });

  it('worktrees add, list, show', async () => {
    const added = (await ask('worktrees', 'add', goalId, '--branch', 'work')).data;
    generationId = added.generationId;
    expect(added).toMatchObject({ branch: 'work', goalId, authority: 'managed' });
    expect(existsSync(join(added.path, 'README.md'))).toBe(true);
    expect((await ask('worktrees', 'list', '--goal', goalId)).data.worktrees).toHaveLength(1);
    expect((await ask('worktrees', 'show', generationId)).data.generationId).toBe(generationId);
  });

  it('runs exec, wait, list, show', async () => {
    const ran = await ask(
      'runs',
      'exec',
      goalId,
      '--name',
      'greeting',
      '--wait',
      '--',
      'sh',
      '-c',
      'echo out; echo err >&2',
    );
    runId = ran.data.runId;
    expect(ran).toMatchObject({
      command: 'runs.exec',
      data: { label: 'greeting', result: { how: 'exited', code: 0 } },
    });
    expect(ran.data.launch.steps.length).toBeGreaterThan(0);
    await ask('runs', 'wait', runId, '--until', 'proved');
    expect((await ask('runs', 'list')).data.runs).toEqual([expect.objectContaining({ runId })]);
    expect((await ask('runs', 'list', '--active')).data.runs).toEqual([]);
    const shown = (await ask('runs', 'show', runId)).data;
    expect(shown.scope).toEqual({ state: 'exited', proof: 'own_receipt' });
    for (const part of ['launcherFacts', 'observations', 'derived', 'hypothetical', 'capture', 'receipts']) {
      expect(shown).toHaveProperty(part);
    }
  });

  it('runs logs: raw bytes on the matching streams, JSON lines with --json', async () => {
    expect(await here.custody(['runs', 'logs', runId])).toMatchObject({ code: 0, stdout: 'out\n', stderr: 'err\n' });
    expect(await here.custody(['runs', 'logs', runId, '--stream', 'stderr'])).toMatchObject({
      stdout: '',
      stderr: 'err\n',
    });
    expect(await here.custody(['runs', 'logs', runId, '--tail', '2', '--stream', 'stdout'])).toMatchObject({
      stdout: 't\n',
    });
    const lines = (await here.custody(['runs', 'logs', runId, '--json'])).stdout
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one));
    expect(lines.at(-1)).toMatchObject({
      end: [
        { stream: 'stdout', complete: true },
        { stream: 'stderr', complete: true },
      ],
    });
    expect(lines).toContainEqual({ stream: 'stdout', data: Buffer.from('out\n').toString('base64') });
  });

  it('status, processes, events', async () => {
    expect((await ask('status')).data).toMatchObject({ health: { state: 'ok' }, coverageClass: 'guarded' });
    expect((await ask('processes')).data.scopes).toEqual([]);
    expect((await ask('processes', '--released')).data.scopes.length).toBeGreaterThan(0);
    const { events, nextPosition } = (await ask('events', '--since', '0', '--limit', '3')).data;
    expect(events).toHaveLength(3);
    const positions = async (...words: string[]) =>
      (await ask('events', ...words)).data.events.map(({ position }: { position: number }) => position);
    expect(await positions('--limit', '3')).toEqual((await positions('--since', '0')).slice(-3));
    expect(
      (await ask('events', '--since', String(nextPosition), '--limit', '1')).data.events[0].position,
    ).toBeGreaterThan(events[2].position);
    const ofRun = (await ask('events', '--actor', runId)).data.events;
    expect(new Set(ofRun.map((event: { actor: { id: string } }) => event.actor.id))).toEqual(new Set([runId]));
  });

  it('backup, contract verify, pause, resume, drain', async () => {
    const to = join(here.dir, 'copy.db');
    expect((await ask('backup', to)).data).toMatchObject({ path: to, bytes: statSync(to).size });
    expect((await ask('contract', 'verify')).data).toMatchObject({ passed: true });
    expect((await ask('pause')).data).toEqual({ admission: 'paused' });
    const paused = await refuse('runs', 'exec', goalId, '--', 'true');
    expect(paused.next.join()).toContain('custody resume');
    expect((await ask('resume')).data).toEqual({ admission: 'open' });
    const { scopeId } = (await ask('runs', 'exec', goalId, '--', 'sleep', '600')).data;
    const drained = { settled: [scopeId], unverified: [], blocked: [], assumed: [] };
    expect((await ask('drain', '--grace', '0', '--wait', '1m')).data).toEqual(drained);
    expect((await here.custody(['drain'])).stdout).toBe('there was nothing to drain\n');
  });

  it('journal checkpoint and forget-ids, artifacts retire (RET-01, RET-03, RET-04)', async () => {
    const planned = (await ask('journal', 'checkpoint', '--dry-run')).data;
    expect(planned).toMatchObject({ dryRun: true, removed: { events: 0 }, kept: { not_over: expect.any(Number) } });
    expect((await ask('journal', 'checkpoint')).data).toMatchObject({ dryRun: false, range: null });
    expect((await here.custody(['journal', 'checkpoint', '--dry-run'])).stdout).toMatch(/would go +0 events/);
    const forgotten = (await ask('journal', 'forget-ids', '--keep-starts', '99', '--dry-run')).data;
    expect(forgotten).toMatchObject({ dryRun: true, forgotten: 0 });
    const retired = (await ask('artifacts', 'retire', '--dry-run')).data;
    expect(retired).toMatchObject({ dryRun: true, retired: { scopes: 0, sessions: 0, bytes: 0 } });
    const atOnce = ['artifacts', 'retire', '--older-than-hours', '0', '--dry-run'];
    expect((await ask(...atOnce)).data.retired.scopes).toBeGreaterThan(0);
    expect((await here.custody(atOnce)).stdout).toMatch(/would go +files of \d+ scopes/);
  });

  it('worktrees close, seal; goals cancel', async () => {
    expect((await ask('worktrees', 'close', generationId)).data.lifecycle).not.toBe('open');
    expect((await ask('worktrees', 'seal', generationId)).data.lifecycle).toBe('sealed');
    expect((await ask('goals', 'cancel', goalId, '--reason', 'done', '--wait', '5s')).data).toMatchObject({
      goalId,
      status: 'cancelled',
    });
  });
});

it('the request is nowhere but in its own private file (PRIV-01)', () => {
  const holding = readdirSync(here.stateDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path, 'latin1').includes('secret-canary-request'));
  expect(holding.map((path) => dirname(path))).toEqual([join(here.stateDir, 'requests')]);
});
