import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DrainEvent } from '../../pty/launch/controlMessages.ts';
import { signalVerified } from '../support/daemonLeftovers.ts';
import { continueGuardian, stopGuardian } from '../support/guardianPair.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { expectWhole, halves, loseHalf } from './support/halves.ts';
import { innerScope } from './support/nestedScopes.ts';
import { inState, isGone, statOf } from './support/processes.ts';
import { program } from './support/programs.ts';
import { readReceipt, run, workDirectory } from './support/scope.ts';

/** An outer scope with an inner one, whose root ignores SIGTERM and is held. `$inner` starts the inner guardian. */
async function nested(script = '$inner & wait') {
  const directory = workDirectory();
  const [outerDir, innerDir] = [join(directory, 'outer'), join(directory, 'inner')];
  const t = turns(directory);
  const argv = ['sh', '-c', `trap '' TERM; ${holdInShell(t, 'exit 5')}`];
  const { command } = await innerScope(innerDir, outerDir, { argv });
  const words = `trap '' TERM; ${script.replaceAll('$inner', command)}`;
  const outer = await run(['sh', '-c', words], { scopeDir: outerDir });
  return { outer, innerDir, t, inner: () => readReceipt(innerDir, 'start').guardian };
}

type Nested = Awaited<ReturnType<typeof nested>>;

async function bothWhole({ outer, innerDir }: Nested, outcome: object): Promise<void> {
  const [innerExit, outerExit] = [await expectWhole(innerDir), await expectWhole(outer.directory)];
  expect(innerExit).toMatchObject(outcome);
  expect(outerExit).toMatchObject({ lostNested: 0 });
  expect(BigInt(innerExit.atNs)).toBeLessThan(BigInt(outerExit.atNs));
}

describe.each(halves)('22 the %s of a nested guardian is killed', (half) => {
  it('it stays enrolled, and nothing of it is lost', async () => {
    const both = await nested();
    const holder = await both.t.ready();
    const { left } = await loseHalf(both.inner().pid, half);
    const { nested: named, members } = await (await both.outer.control()).members();
    expect(named).toContain(left.pid);
    expect(members.map(({ pid }) => pid)).not.toContain(holder);
    await both.t.release();
    await bothWhole(both, { code: 5, terminated: false });
    await isGone(left.pid);
  });

  it('it is asked, never stopped, and completes its receipts first when the outer scope is ended (63)', async () => {
    const both = await nested(`$inner & '${program('swarm')}' none /dev/null`);
    const holder = await both.t.ready();
    await loseHalf(both.inner().pid, half);
    const control = await both.outer.control();
    const events: DrainEvent[] = [];
    for await (const event of control.terminate({ graceMs: 50, budgetMs: 60_000 })) events.push(event);
    expect(events.map(({ event }) => event)).toEqual(['accepted', 'quiesced', 'signalled', 'settled']);
    const touched = events.flatMap((event) => (event.event === 'quiesced' ? event.members.map(([pid]) => pid) : []));
    expect(touched).not.toContain(holder);
    await bothWhole(both, { how: 'signaled', signal: 9, terminated: true });
  });
});

it('a nested guardian of which only the recorded process is stopped is asked all the same (SHUT-03)', async () => {
  const both = await nested();
  await both.t.ready();
  signalVerified(both.inner(), 'SIGSTOP');
  await inState(both.inner().pid, 'T');
  const events: string[] = [];
  const control = await both.outer.control();
  for await (const { event } of control.terminate({ graceMs: 50, budgetMs: 10_000 })) events.push(event);
  expect(events).toEqual(['accepted', 'quiesced', 'signalled', 'settled']);
  await bothWhole(both, { how: 'signaled', signal: 9, terminated: true });
});

describe.each(halves)('22 the %s of a guardian around another one is killed', (half) => {
  it('the inner one is still its own, and tells it of its end', async () => {
    const both = await nested();
    await both.t.ready();
    await loseHalf(both.outer.launch.pid, half);
    const control = await both.outer.control();
    expect((await control.members()).nested).toEqual([both.inner().pid]);
    control.close();
    await both.t.release();
    await bothWhole(both, { code: 5, terminated: false });
  });

  it('the inner one is asked by the one that is left', async () => {
    const both = await nested();
    await both.t.ready();
    await loseHalf(both.outer.launch.pid, half);
    for await (const _ of (await both.outer.control()).terminate({ graceMs: 50, budgetMs: 60_000 }));
    await bothWhole(both, { how: 'signaled', signal: 9, terminated: true });
  });

  it('an inner one can enrol with the one that is left', async () => {
    const directory = workDirectory();
    const late = turns(directory, 'late');
    const both = await nested(`read line < '${late.paths[1]}'; $inner`);
    await loseHalf(both.outer.launch.pid, half);
    await late.release();
    await both.t.ready();
    expect((await (await both.outer.control()).members()).nested).toEqual([both.inner().pid]);
    await both.t.release();
    await bothWhole(both, { code: 5 });
  });

  it('in a drain that it gives up: what was frozen runs again, and what was stopped before stays so (SHUT-08)', async () => {
    const t = turns(workDirectory(), 'stopped');
    const both = await nested(`'${program('swarm')}' stopped '${t.paths[0]}' & $inner & wait`);
    await Promise.all([both.t.ready(), t.ready()]);
    const control = await both.outer.control();
    const stopped = (await control.members()).members.find(({ state }) => state === 'T')!;
    stopGuardian(both.inner().pid);
    onTestFinished(() => continueGuardian(both.inner()));
    const events = control.terminate({ graceMs: 50, budgetMs: 3_000 })[Symbol.asyncIterator]();
    for (let next = await events.next(); next.value.event !== 'quiesced'; ) next = await events.next();
    const root = both.outer.launch.ready.workload.pid;
    expect(statOf(root)?.state).toBe('T');
    await loseHalf(both.outer.launch.pid, half);
    let { value: last } = await events.next();
    // A worker that is killed just when it has told something has it told again.
    if (last.event === 'quiesced') last = (await events.next()).value;
    const { pid, start } = both.inner();
    expect(last).toMatchObject({ event: 'budgetExhausted', guardians: [[pid, start]] });
    await inState(root, 'S');
    expect(statOf(stopped.pid)?.state).toBe('T');
    continueGuardian(both.inner().pid);
    for await (const _ of (await both.outer.control()).terminate({ graceMs: 50, budgetMs: 60_000 }));
    await bothWhole(both, { how: 'signaled', signal: 9, terminated: true });
  });
});
