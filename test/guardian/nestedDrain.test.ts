import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { controlClient } from '../../pty/launch/control.ts';
import type { DrainEvent } from '../../pty/launch/controlMessages.ts';
import { eventually } from '../support/eventually.ts';
import { continueGuardian, killGuardian, stopGuardian } from '../support/guardianPair.ts';
import { names, terminated } from './support/drain.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { launcherCommand } from './support/launcher.ts';
import type { InnerChanges } from './support/nestedScopes.ts';
import { innerScope } from './support/nestedScopes.ts';
import { inState, isAlive, isGone, statOf } from './support/processes.ts';
import type { GuardianSwitch } from './support/programs.ts';
import { guardian, guardianBuiltWith, program, wrapped } from './support/programs.ts';
import type { LaunchChanges, Scope } from './support/scope.ts';
import { exists, readReceipt, run, workDirectory } from './support/scope.ts';

const bounds = { graceMs: 50, budgetMs: 30_000 };

const stubborn = (ready: string) => `'${program('swarm')}' none '${ready}'`;

const atNs = (directory: string, kind: 'status' | 'exit') => BigInt(readReceipt(directory, kind).atNs);

interface Pair {
  readonly outer: Scope;
  readonly innerDir: string;
  /** Of the inner guardian. */
  readonly inner: { readonly pid: number; readonly start: string };
  /** The root of the inner tree. */
  readonly root: number;
}

interface Shape {
  /** The script of the outer root; `$inner` stands for the command that starts the inner guardian. */
  readonly script?: string;
  readonly innerArgv?: (ready: string) => readonly string[];
  readonly outer?: LaunchChanges;
  readonly inner?: InnerChanges;
}

/** An outer scope whose root ignores SIGTERM and holds an inner one. */
async function pair({ script = '$inner & wait', innerArgv, outer, inner }: Shape = {}): Promise<Pair> {
  const directory = workDirectory();
  const [outerDir, innerDir] = [join(directory, 'outer'), join(directory, 'inner')];
  const t = turns(directory);
  const argv = innerArgv?.(t.paths[0]) ?? [program('swarm'), 'none', t.paths[0]];
  const { command } = await innerScope(innerDir, outerDir, { ...inner, argv });
  const words = `trap '' TERM; ${script.replaceAll('$inner', command)}`;
  const scope = await run(['sh', '-c', words], { scopeDir: outerDir, ...outer });
  const root = await t.ready();
  const { pid, start } = readReceipt(innerDir, 'start').guardian;
  return { outer: scope, innerDir, inner: { pid, start }, root };
}

describe('the order of ends', () => {
  it('three deep: the innermost tree first, and of the others nobody before (linux case 63)', async () => {
    const directory = workDirectory();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => join(directory, name)) as [string, string, string];
    const t = turns(directory);
    const innermost = await innerScope(c, b, { argv: [program('swarm'), 'mixed', t.paths[0], '2'] });
    const middle = ['sh', '-c', `trap '' TERM; ${innermost.command} & ${stubborn('/dev/null')}`];
    const between = await innerScope(b, a, { argv: middle });
    const outer = await run(['sh', '-c', `trap '' TERM; ${between.command} & ${stubborn('/dev/null')}`], {
      scopeDir: a,
    });
    await t.ready();
    expect(names(await terminated(outer, bounds))).toEqual(['accepted', 'quiesced', 'signalled', 'settled']);
    const order = [atNs(c, 'exit'), atNs(b, 'status'), atNs(b, 'exit'), atNs(a, 'status'), atNs(a, 'exit')];
    expect(order).toEqual([...order].sort((x, y) => Number(x - y)));
    for (const scope of [a, b, c]) {
      expect(readReceipt(scope, 'exit')).toMatchObject({ signal: 9, terminated: true, lostNested: 0 });
    }
  });

  it('two side by side, one quick and one that ignores SIGTERM: both are waited for', async () => {
    const directory = workDirectory();
    const [outerDir, quickDir, slowDir] = ['outer', 'quick', 'slow'].map((name) => join(directory, name)) as string[];
    const [quick, slow] = [turns(directory, 'quick'), turns(directory, 'slow')];
    const leaves = await innerScope(quickDir!, outerDir!, { argv: ['sh', '-c', holdInShell(quick)] });
    const stays = await innerScope(slowDir!, outerDir!, {
      argv: [program('swarm'), 'none', slow.paths[0]],
      graceMs: 300,
    });
    const script = `trap '' TERM; ${leaves.command} & ${stays.command} & ${stubborn('/dev/null')}`;
    const outer = await run(['sh', '-c', script], { scopeDir: outerDir! });
    await Promise.all([quick.ready(), slow.ready()]);
    await terminated(outer, bounds);
    expect(readReceipt(quickDir!, 'exit')).toMatchObject({ signal: 15, terminated: true });
    expect(readReceipt(slowDir!, 'exit')).toMatchObject({ signal: 9, terminated: true });
    expect(outer.receipt('exit')).toMatchObject({ terminated: true, lostNested: 0 });
    const last = [atNs(quickDir!, 'exit'), atNs(slowDir!, 'exit'), atNs(outerDir!, 'status')];
    expect(last).toEqual([...last].sort((x, y) => Number(x - y)));
  });

  it('a nested guardian that holds its terminal for a frozen reader has completed its receipts: the reader is ended', async () => {
    const directory = workDirectory();
    const [outerDir, innerDir] = [join(directory, 'outer'), join(directory, 'inner')];
    const t = turns(directory);
    const argv = [program('swarm'), 'none', t.paths[0]];
    const order = { scopeDir: innerDir, argv, upSocketDir: outerDir, graceMs: 50, budgetMs: 30_000 };
    const outer = await run(launcherCommand({ ...order, program: 'terminalHost' }), { scopeDir: outerDir });
    await t.ready();
    const events = await terminated(outer, { graceMs: 0, budgetMs: 30_000 }); // it would hold it for twice as long
    expect(names(events)).toEqual(['accepted', 'quiesced', 'signalled', 'settled']);
    expect(readReceipt(innerDir, 'exit')).toMatchObject({ signal: 9, terminated: true });
    expect(outer.receipt('exit')).toMatchObject({ terminated: true, lostNested: 0 });
  });

  it('a grace is not waited out when only nested guardians are left, which have not been asked yet', async () => {
    const { outer, innerDir } = await pair({ script: `trap - TERM; $inner & wait` });
    const events = await terminated(outer, { graceMs: 3_600_000, budgetMs: 30_000 });
    expect(events.at(-1)).toEqual({ event: 'settled', exit: 0 });
    expect(readReceipt(innerDir, 'exit')).toMatchObject({ signal: 9, terminated: true });
  });
});

describe('whoever would report an end as a failure does not get to run in between (SHUT-02, SHUT-03)', () => {
  const watched = async (guardianPath?: string) => {
    const report = join(workDirectory(), 'report');
    const { outer } = await pair({
      script: `$inner; echo failed > '${report}'`,
      ...(guardianPath && { outer: { guardianPath }, inner: { guardianPath } }),
    });
    await terminated(outer, { graceMs: 300, budgetMs: 30_000 });
    expect(outer.receipt('exit')).toMatchObject({ terminated: true, lostNested: 0 });
    return exists(report);
  };

  it('the launcher of a nested scope', async () => {
    expect(await watched()).toBe(false);
  });

  it('would, if nested guardians were asked first', async () => {
    expect(await watched(guardianBuiltWith('WITHOUT_FREEZE_FIRST'))).toBe(true);
  });

  /** The guardian halts after its first kill, and goes on after `meanwhile`. */
  const sibling = async (meanwhile: (root: number, report: string) => Promise<void>, ...without: GuardianSwitch[]) => {
    const directory = workDirectory();
    const report = join(directory, 'report');
    const [t, end] = [turns(directory), turns(directory, 'end')];
    const watcher = `(read line < '${end.paths[0]}'; echo failed > '${report}') &`;
    const script = `${watcher} exec 3> '${end.paths[0]}'; exec ${stubborn(t.paths[0])}`;
    const guardianPath = wrapped(directory, ['step', 'stop:struck#1'], guardianBuiltWith('TEST_STEPS', ...without));
    const scope = await run(['sh', '-c', script], { guardianPath });
    const root = await t.ready();
    const ending = terminated(scope, { graceMs: 0, budgetMs: 10_000 });
    await inState(scope.launch.pid, 'T');
    await meanwhile(root, report);
    continueGuardian(scope.launch.pid);
    await ending;
    return exists(report);
  };

  it('somebody who watches a sibling', async () => {
    expect(await sibling(async () => {})).toBe(false);
  });

  it('would, if the tree were not frozen', async () => {
    const reported = async (root: number, report: string) => {
      await isGone(root); // the first that is killed
      await eventually('the report', () => exists(report) || undefined);
    };
    expect(await sibling(reported, 'WITHOUT_FREEZE')).toBe(true);
  });
});

describe('a nested guardian that does not end', () => {
  it('because it is stopped, is named, and everything runs again that was frozen for it (SHUT-04, SHUT-08)', async () => {
    const directory = workDirectory();
    const t = turns(directory, 'stopped');
    const script = `'${program('swarm')}' stopped '${t.paths[0]}' & $inner & ${stubborn('/dev/null')}`;
    const { outer, innerDir, inner } = await pair({ script });
    const parent = await t.ready();
    const { members } = await (await outer.control()).members();
    const stopped = members.find(({ state }) => state === 'T')!;
    stopGuardian(inner.pid);
    await inState(inner.pid, 'T');
    const first = await terminated(outer, { graceMs: 50, budgetMs: 500 });
    expect(names(first)).toEqual(['accepted', 'quiesced', 'budgetExhausted']);
    expect(first.at(-1)).toMatchObject({ unkillable: [], guardians: [[inner.pid, inner.start]] });
    await inState(outer.launch.ready.workload.pid, 'S');
    await inState(parent, 'S');
    expect([statOf(stopped.pid)?.state, isAlive(inner.pid)]).toEqual(['T', true]);
    const again = terminated(outer, bounds);
    continueGuardian(inner.pid);
    expect((await again).at(-1)).toEqual({ event: 'settled', exit: 0 });
    expect(readReceipt(innerDir, 'exit')).toMatchObject({ terminated: true, proof: 'ECHILD' });
    expect(outer.receipt('exit')).toMatchObject({ lostNested: 0, terminated: true });
  });

  /** The first round of its own drain is given up; the outer drain goes on. Its root counts how often it is asked. */
  const stalled = async (budgetMs: number, guardianPath = guardian()) => {
    const directory = workDirectory();
    const asked = join(directory, 'asked');
    const [idle] = turns(directory, 'idle').paths;
    const innerArgv = (ready: string) => {
      const script = `trap "echo asked >> '${asked}'" TERM; echo $$ > '${ready}'; while :; do read line <> '${idle}'; done`;
      return ['sh', '-c', script];
    };
    const inner = { graceMs: 3_600_000, budgetMs: 0, guardianPath };
    const { outer, innerDir, root } = await pair({ innerArgv, inner, outer: { guardianPath } });
    const isAsked = async (times: number) => {
      const lines = () => (exists(asked) ? readFileSync(asked, 'utf8').split('\n').length - 1 : 0);
      await eventually(`SIGTERM number ${times}`, () => lines() === times || undefined);
    };
    const ending = terminated(outer, { graceMs: 0, budgetMs });
    await isAsked(1);
    const impatient = (await controlClient(innerDir, { timeoutMs: 20_000 })).terminate({ graceMs: 0, budgetMs: 0 });
    const own: DrainEvent[] = [];
    for await (const event of impatient) own.push(event);
    expect(names(own)).toEqual(['accepted', 'budgetExhausted']); // the shorter grace has brought the budget nearer as well
    return { ending, root, isAsked };
  };

  it('within its own budget is asked again within that of the outer one', async () => {
    const { ending, root, isAsked } = await stalled(60_000);
    await isAsked(2);
    process.kill(root, 'SIGKILL');
    expect((await ending).at(-1)).toEqual({ event: 'settled', exit: 0 });
  });

  it('would not be asked again, and the outer budget would run out', async () => {
    const { ending, root, isAsked } = await stalled(1_000, guardianBuiltWith('WITHOUT_ASKING_AGAIN'));
    expect((await ending).at(-1)).toMatchObject({ event: 'budgetExhausted' });
    await isAsked(1);
    process.kill(root, 'SIGKILL');
  });

  it('because a frozen member traces what it has killed: the member runs again, and a later round ends both', async () => {
    const directory = workDirectory();
    const [order, tracer] = [turns(directory, 'order'), turns(directory, 'tracer')];
    const { outer, innerDir, inner, root } = await pair({
      script: `$inner & read line < '${order.paths[1]}'; eval "$line"`,
    });
    await writeFile(order.paths[1], `'${program('tree')}' trace ${tracer.paths.join(' ')} ${root}\n`);
    await tracer.ready();
    const first = await terminated(outer, { graceMs: 0, budgetMs: 500 });
    expect(names(first)).toEqual(['accepted', 'quiesced', 'budgetExhausted']);
    expect(first.at(-1)).toMatchObject({ guardians: [[inner.pid, inner.start]] });
    await tracer.release();
    // Nobody holds anything any more, so both may have ended before they can be asked.
    const second = await terminated(outer, bounds).catch((error: unknown) => error);
    if (second instanceof Error)
      expect(second).toMatchObject({ code: expect.stringMatching(/^(control_closed|guardian_unreachable)$/) });
    else expect((second as readonly unknown[]).at(-1)).toEqual({ event: 'settled', exit: 0 });
    expect((await outer.launch.exited).code).toBe(0);
    expect(readReceipt(innerDir, 'exit')).toMatchObject({ signal: 9, terminated: true });
    expect(outer.receipt('exit')).toMatchObject({ lostNested: 0, terminated: true });
  });

  it('because somebody kills it: what it leaves is frozen with the rest before anything is killed', async () => {
    const { outer, innerDir, inner } = await pair({ innerArgv: (ready) => [program('swarm'), 'hoppers', ready, '4'] });
    stopGuardian(inner.pid);
    await inState(inner.pid, 'T');
    const events = (await outer.control()).terminate({ graceMs: 0, budgetMs: 30_000 })[Symbol.asyncIterator]();
    for (let next = await events.next(); next.value.event !== 'quiesced'; ) next = await events.next();
    killGuardian(inner.pid);
    const rest: DrainEvent[] = [];
    for (let next = await events.next(); !next.done; next = await events.next()) rest.push(next.value);
    expect(names(rest)).toEqual(['signalled', 'settled']);
    expect(outer.receipt('exit')).toMatchObject({ lostNested: 1, terminated: true });
    expect(exists(join(innerDir, 'exit.json'))).toBe(false);
  });
});

describe('a tree that was frozen and is woken from outside before the kill', () => {
  /** Stops the guardian where all scans have agreed, and goes on when everybody who woke up has run away. */
  const woken = async (...without: GuardianSwitch[]) => {
    const directory = workDirectory();
    const guardianPath = wrapped(directory, ['step', 'stop:frozen'], guardianBuiltWith('TEST_STEPS', ...without));
    const t = turns(directory);
    const scope = await run([program('swarm'), 'sleepers', t.paths[0], '4'], { guardianPath });
    await t.ready();
    const { members } = await (await scope.control()).members();
    const ending = terminated(scope, { graceMs: 0, budgetMs: 2_000 });
    await inState(scope.launch.pid, 'T');
    for (const { pid } of members) if (pid !== scope.launch.ready.workload.pid) process.kill(pid, 'SIGCONT');
    await eventually('a hop', () => members.some(({ pid }) => statOf(pid)?.state === 'Z') || undefined);
    continueGuardian(scope.launch.pid);
    return { scope, ending };
  };

  it('is frozen again with all that it has begun meanwhile', async () => {
    const { scope, ending } = await woken();
    await inState(scope.launch.pid, 'T'); // at the same step once more
    continueGuardian(scope.launch.pid);
    expect(names(await ending)).toEqual(['accepted', 'quiesced', 'signalled', 'settled']);
    expect(scope.receipt('exit')).toMatchObject({ terminated: true });
  });

  it('would be chased with kills instead, as long as it lets itself be caught up with', async () => {
    const { ending } = await woken('WITHOUT_REFREEZE');
    expect(names(await ending).slice(0, 3)).toEqual(['accepted', 'quiesced', 'signalled']); // no second stop
  });
});
