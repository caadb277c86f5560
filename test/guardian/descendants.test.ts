import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardianPair } from '../support/guardianPair.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { isAlive, isGone, statOf } from './support/processes.ts';
import { guardianBuiltWith, program, guardian as shipped, wrapped } from './support/programs.ts';
import { exists, run, workDirectory } from './support/scope.ts';

/**
 * Runs a workload whose root ends while a descendant stays, and says what the guardian made of it. `held`: the exit
 * receipt came only after the descendant was released. `false proof`: it came while the descendant was alive.
 */
async function proofAround(shape: string, reaped: number, guardianPath = shipped()): Promise<'held' | 'false proof'> {
  const t = turns(workDirectory());
  const scope = await run([program('tree'), shape, ...t.paths], { guardianPath });
  const pid = await t.ready();
  await scope.appeared('status.json');
  const control = await scope.control().catch(() => undefined);
  const phase = await control?.hello().then(
    (hello) => hello.phase,
    () => undefined,
  );
  control?.close();
  const alive = isAlive(pid);
  await t.release();
  const { code } = await scope.launch.exited;
  expect([code, alive]).toEqual([0, true]);
  if (phase === undefined) return 'false proof';
  expect(phase).toBe('rootEnded');
  expect(scope.receipt('status')).toMatchObject({ how: 'exited', code: 0 });
  expect(scope.receipt('exit')).toMatchObject({ how: 'exited', code: 0, reaped, adopted: reaped - 1 });
  return 'held';
}

const shapes = [
  ['7 a daemon: two forks, two sessions, no descriptors', 'daemon', 3],
  ['8 a child made with CLONE_PARENT', 'clone-parent', 2],
  ['9 a child without an exit signal', 'no-exit-signal', 2],
  ['10 a child made by vfork and exec', 'vfork', 2],
  ['11 a child of a thread that has ended', 'thread-fork', 2],
] as const;

describe('the exit receipt waits for every descendant (linux cases 7 to 11, GRD-02, GRD-04)', () => {
  it.each(shapes)('%s', async (_name, shape, reaped) => {
    expect(await proofAround(shape, reaped)).toBe('held');
  });

  it('fails without the subreaper flag, which makes orphans somebody else’s', async () => {
    expect(await proofAround('daemon', 3, guardianBuiltWith('WITHOUT_SUBREAPER'))).toBe('false proof');
  });
});

describe('a child from before the guardian, whose end sends no signal (linux case 9)', () => {
  async function withInheritedChild(guardianPath: string): Promise<'held' | 'false proof'> {
    const directory = workDirectory();
    const t = turns(directory);
    const scope = await run(['true'], { guardianPath: wrapped(directory, ['inherit', ...t.paths], guardianPath) });
    const pid = await t.ready();
    await scope.appeared('status.json');
    const control = await scope.control().catch(() => undefined);
    const answered = await control?.hello().catch(() => undefined);
    control?.close();
    expect(isAlive(pid)).toBe(true);
    await t.release();
    await scope.launch.exited;
    return answered === undefined ? 'false proof' : 'held';
  }

  it('is waited for', async () => {
    expect(await withInheritedChild(shipped())).toBe('held');
  });

  it('is overlooked by a wait without __WALL', async () => {
    expect(await withInheritedChild(guardianBuiltWith('WITHOUT_WALL'))).toBe('false proof');
  });
});

describe('the leader', () => {
  it('12 has ended when its last thread has, with that thread’s code', async () => {
    const t = turns(workDirectory());
    const scope = await run([program('tree'), 'leader-exit', ...t.paths]);
    await t.ready();
    const control = await scope.control();
    expect((await control.hello()).phase).toBe('running');
    const { members } = await control.members();
    expect(members.map(({ pid }) => pid)).toEqual([scope.launch.ready.workload.pid]);
    await t.release();
    await scope.launch.exited;
    expect(scope.receipt('exit')).toMatchObject({ how: 'exited', code: 9, reaped: 1 });
  });

  it.each([
    ['keeps', shipped, 5],
    ['loses', () => guardianBuiltWith('WITHOUT_SIGCHLD_DEFAULT'), undefined],
  ] as const)('13 %s its code when SIGCHLD was ignored by the launcher', async (_name, build, code) => {
    const directory = workDirectory();
    const t = turns(directory);
    // A guardian that loses its child at once may be gone before it has said that the gate is open.
    const guardianPath = wrapped(directory, ['ignore', 'all'], build());
    const scope = await run(['sh', '-c', holdInShell(t, 'exit 5')], { guardianPath });
    await t.ready();
    await t.release();
    await isGone(scope.launch.ready.workload.pid);
    const control = await scope.control().catch(() => undefined); // wakes a guardian whom no signal has told
    control?.close();
    const { code: guardianCode } = await scope.launch.exited;
    expect(guardianCode).toBe(code === undefined ? 74 : 0);
    expect(exists(join(scope.directory, 'exit.json')) ? scope.receipt('exit').code : undefined).toBe(code);
  });
});

describe('a server that was started inside (linux case 19)', () => {
  it('keeps the receipt back and is named as the holder', async () => {
    const t = turns(workDirectory());
    const scope = await run(['sh', '-c', `setsid sh -c "${holdInShell(t).replaceAll('$', '\\$')}" & exit 0`]);
    const holder = await t.ready();
    await scope.appeared('status.json');
    const control = await scope.control();
    const { members, total, nested, complete } = await control.members();
    expect({ total, nested, complete }).toEqual({ total: 1, nested: [], complete: true });
    expect(members).toMatchObject([
      { pid: holder, ppid: guardianPair(scope.launch.pid).worker!.pid, start: statOf(holder)?.start },
    ]);
    await t.release();
    expect((await scope.launch.exited).code).toBe(0);
    expect(scope.receipt('exit')).toMatchObject({ claim: 'no-descendants', proof: 'ECHILD', reaped: 2, adopted: 1 });
  });

  it('is found without /proc/PID/task/TID/children, too', async () => {
    const t = turns(workDirectory());
    const guardianPath = guardianBuiltWith('WITHOUT_CHILDREN_FILE');
    const scope = await run(['sh', '-c', `sh -c "${holdInShell(t).replaceAll('$', '\\$')}" & wait`], { guardianPath });
    const holder = await t.ready();
    const control = await scope.control();
    const { members, total } = await control.members();
    expect(total).toBe(2);
    expect(members.map(({ pid }) => pid).sort()).toEqual([scope.launch.ready.workload.pid, holder].sort());
    await t.release();
    await scope.launch.exited;
  });
});

describe('the log of adopted children', () => {
  it('has one line for each, with identity and wait status', async () => {
    const scope = await run(['sh', '-c', '(sh -c "exit 3" & exit 0); (sh -c "kill -9 \\$\\$" & exit 0); exit 0']);
    await scope.launch.exited;
    const lines = readFileSync(`${scope.directory}/adopted.log`, 'utf8').split('\n').filter(Boolean);
    const entries = lines.map((line) => JSON.parse(line));
    expect(scope.receipt('exit').adopted).toBe(entries.length);
    expect(entries.map(({ status }) => status).sort((a, b) => a - b)).toEqual([9, 3 << 8]);
    for (const { pid, start } of entries) expect([typeof pid, /^\d+$/.test(start)]).toEqual(['number', true]);
  });
});
