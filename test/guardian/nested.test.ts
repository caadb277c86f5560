import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardianDigest } from '../../pty/launch/binary.ts';
import { guardianPair, loseGuardian, stopGuardian } from '../support/guardianPair.ts';
import { terminated } from './support/drain.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { launcherCommand } from './support/launcher.ts';
import { inState, isAlive, statOf } from './support/processes.ts';
import { guardian, guardianBuiltWith } from './support/programs.ts';
import { rawClient } from './support/rawClient.ts';
import type { LaunchChanges, Scope } from './support/scope.ts';
import { exists, gated, readReceipt, run, workDirectory } from './support/scope.ts';

interface Nested {
  readonly outer: Scope;
  readonly innerDir: string;
  readonly holder: number;
  release(): Promise<void>;
}

/** An outer guardian whose workload is a launcher with a guardian of its own, around a holder that ignores SIGTERM. */
async function nested(changes: LaunchChanges = {}, innerGuardian = guardian()): Promise<Nested> {
  const directory = workDirectory();
  const [outerDir, innerDir] = [join(directory, 'outer'), join(directory, 'inner')];
  const t = turns(directory);
  const argv = ['sh', '-c', `trap '' TERM; ${holdInShell(t, 'exit 5')}`];
  const order = {
    scopeDir: innerDir,
    argv,
    guardianPath: innerGuardian,
    upSocketDir: outerDir,
    graceMs: 100,
    atOnce: true,
  };
  const outer = await run(launcherCommand(order), { scopeDir: outerDir, ...changes });
  const failed = outer.launch.exited.then(() =>
    Promise.reject(new Error(`the inner launch failed: ${outer.stdout()}`)),
  );
  const holder = await Promise.race([t.ready(), failed]);
  failed.catch(() => undefined);
  return { outer, innerDir, holder, release: t.release };
}

function said(scope: Scope): Record<string, Record<string, unknown>> {
  const lines = scope.stdout().trim().split('\n');
  return Object.assign({}, ...lines.map((line) => JSON.parse(line)));
}

describe('a guardian inside the tree of another one', () => {
  it('names it in its receipts, is not entered and holds its receipt back', async () => {
    const { outer, innerDir, holder, release } = await nested();
    const inner = said(outer).ready!.guardian as { pid: number };
    const control = await outer.control();
    const members = await control.members();
    expect(members.nested).toEqual([inner.pid]);
    expect(members.members.map(({ pid }) => pid)).not.toContain(holder);
    await release();
    expect((await outer.launch.exited).code).toBe(0);
    const [innerExit, outerExit] = [readReceipt(innerDir, 'exit'), outer.receipt('exit')];
    expect(innerExit).toMatchObject({ code: 5, enclosing: { scope: 'S0123456789', guardian: outerExit.guardian } });
    expect(readReceipt(innerDir, 'start').enclosing).toEqual(innerExit.enclosing);
    expect(outerExit).toMatchObject({ enclosing: null, lostNested: 0 });
    expect(BigInt(innerExit.atNs)).toBeLessThan(BigInt(outerExit.atNs));
  });

  it('is found through the environment as well', async () => {
    const directory = workDirectory();
    const [outerDir, innerDir] = [join(directory, 'outer'), join(directory, 'inner')];
    const argv = launcherCommand({ scopeDir: innerDir, argv: ['true'], atOnce: true });
    const env = { PATH: process.env.PATH!, CUSTODY_GUARDIAN_UP: outerDir };
    const outer = await run(argv, { scopeDir: outerDir, env });
    expect((await outer.launch.exited).code).toBe(0);
    expect(readReceipt(innerDir, 'exit').enclosing?.guardian).toEqual(outer.receipt('exit').guardian);
  });

  it('21 is killed: the outer one takes over its tree, with the status of its workload', async () => {
    const { outer, innerDir, holder, release } = await nested();
    const inner = said(outer).ready!.guardian as { pid: number };
    const { start } = statOf(holder)!;
    await loseGuardian(inner.pid);
    expect(statOf(holder)?.ppid).toBe(guardianPair(outer.launch.pid).worker!.pid);
    await release();
    expect((await outer.launch.exited).code).toBe(0);
    expect(outer.receipt('exit')).toMatchObject({ lostNested: 1, proof: 'ECHILD' });
    expect(exists(join(innerDir, 'exit.json'))).toBe(false);
    const adopted = readFileSync(join(outer.directory, 'adopted.log'), 'utf8').split('\n').filter(Boolean);
    expect(adopted.map((line) => JSON.parse(line))).toContainEqual({ pid: holder, start, status: 5 << 8 });
  });
});

describe('termination around a nested guardian (linux case 63, SHUT-04)', () => {
  it('it is asked once, never stopped, and completes its receipts first', async () => {
    const { outer, innerDir, holder } = await nested();
    const events = await terminated(outer, { graceMs: 100, budgetMs: 30_000 });
    expect(events.at(-1)).toEqual({ event: 'settled', exit: 0 });
    const touched = events.flatMap((event) => (event.event === 'quiesced' ? event.members.map(([pid]) => pid) : []));
    expect(touched).not.toContain(holder);
    expect(isAlive(holder)).toBe(false);
    const [innerExit, outerExit] = [readReceipt(innerDir, 'exit'), outer.receipt('exit')];
    expect(innerExit).toMatchObject({ how: 'signaled', signal: 9, terminated: true });
    expect(outerExit).toMatchObject({ terminated: true, lostNested: 0 });
    expect(BigInt(innerExit.atNs)).toBeLessThan(BigInt(outerExit.atNs));
  });

  it('without the sparing its receipts are lost', async () => {
    const guardianPath = guardianBuiltWith('WITHOUT_SPARING');
    const { outer, innerDir } = await nested({ guardianPath }, guardianPath);
    const inner = said(outer).ready!.guardian as { pid: number };
    stopGuardian(inner.pid); // so that its own, quicker termination does not hide the difference
    await inState(inner.pid, 'T');
    await terminated(outer, { graceMs: 0, budgetMs: 30_000 });
    expect(outer.receipt('exit')).toMatchObject({ lostNested: 1 });
    expect(exists(join(innerDir, 'exit.json'))).toBe(false);
  });
});

describe('enrolment is refused with 75 and the image does not run', () => {
  it('64 once a termination has begun', async () => {
    const directory = workDirectory();
    const [outerDir, ran] = [join(directory, 'outer'), join(directory, 'ran')];
    const order = { scopeDir: join(directory, 'inner'), argv: ['touch', ran], upSocketDir: outerDir, atOnce: true };
    const command = launcherCommand(order).map((word) => `'${word}'`);
    const t = turns(directory);
    const outer = await run(
      ['sh', '-c', `trap "${command.join(' ').replaceAll('"', '\\"')}; exit 0" TERM; ${holdInShell(t)}`],
      {
        scopeDir: outerDir,
      },
    );
    await t.ready();
    const control = await outer.control();
    for await (const _event of control.terminate({ graceMs: 30_000, budgetMs: 30_000 }));
    expect(said(outer).error).toMatchObject({ code: 'guardian_refused', exitCode: 75, step: 'enrolRefused' });
    expect(exists(ran)).toBe(false);
  });

  it('where nobody listens, and where somebody listens who does not enclose it', async () => {
    const ran = join(workDirectory(), 'ran');
    const nowhere = gated(['touch', ran], { upSocketDir: workDirectory() });
    await expect(nowhere).rejects.toMatchObject({ exitCode: 75, step: 'enrolConnect', errno: 2 });
    const t = turns(workDirectory());
    const other = await run(['sh', '-c', holdInShell(t)]);
    await t.ready();
    const stranger = gated(['touch', ran], { upSocketDir: other.directory });
    await expect(stranger).rejects.toMatchObject({ exitCode: 75, step: 'enrolConnect', errno: 1 });
    await t.release();
    await other.launch.exited;
    expect(exists(ran)).toBe(false);
  });

  it('but not to the same build in another file', async () => {
    const copy = join(workDirectory(), 'copy');
    copyFileSync(guardian(), copy);
    const { outer, release } = await nested({}, copy);
    await release();
    expect((await outer.launch.exited).code).toBe(0);
    expect(outer.receipt('exit').lostNested).toBe(0);
  });

  it('to another executable, unless the outer guardian knows its digest', async () => {
    const other = guardianBuiltWith('TEST_STEPS');
    const attempt = async (changes: LaunchChanges) => {
      const directory = workDirectory();
      const [scopeDir, innerDir] = [join(directory, 'outer'), join(directory, 'inner')];
      const order = { scopeDir: innerDir, argv: ['true'], guardianPath: other, upSocketDir: scopeDir, atOnce: true };
      const outer = await run(launcherCommand(order), { scopeDir, ...changes });
      await outer.launch.exited;
      return said(outer);
    };
    const [unknown, known] = await Promise.all([attempt({}), attempt({ knownGuardians: [guardianDigest(other)] })]);
    expect(unknown.error).toMatchObject({ exitCode: 75, step: 'enrolRefused' });
    expect(known.exited).toEqual({ code: 0, signal: null });
  });
});

describe('whoever is no guardian is not spared (linux case 65)', () => {
  const script = `require('net').connect(process.argv[1]).on('data', (d) => { process.stdout.write(d); process.exit(); }).write('enrol S1\\n')`;

  const answerInside = async (guardianPath: string) => {
    const scopeDir = join(workDirectory(), 'scope');
    const argv = [process.execPath, '-e', script, join(scopeDir, 'ctl.sock')];
    const scope = await run(argv, { scopeDir, guardianPath });
    await scope.launch.exited;
    return said(scope);
  };

  it('another program inside the tree', async () => {
    expect(await answerInside(guardian())).toEqual({ refused: 'notGuardian' });
  });

  it('which is noticed by looking at its executable', async () => {
    expect(await answerInside(guardianBuiltWith('WITHOUT_EXE_CHECK'))).toMatchObject({ enrolled: true });
  });

  it('somebody outside the tree', async () => {
    const t = turns(workDirectory());
    const scope = await run(['sh', '-c', holdInShell(t)]);
    await t.ready();
    const client = await rawClient(scope.directory);
    client.say('enrol S1');
    expect(JSON.parse((await client.line())!)).toEqual({ refused: 'notDescendant' });
    await t.release();
    await scope.launch.exited;
  });
});
