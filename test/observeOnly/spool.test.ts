/** From a launcher's shell to what is known: the client writes into the spool, and observing takes it from there. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { client, clientBuiltWith } from '../note/support/client.ts';
import { testDaemon } from '../support/daemon.ts';
import { cliProgram } from '../support/daemonProcess.ts';
import { Observing } from './support/observing.ts';

/** As somebody writes it who keeps their launcher and wants it seen. */
const script = `
set -e
note() { "$NOTE" "$@" --wait=60000; }
note reserve "$1" --worktree "$2" --label "nightly build"
sleep 1000 & job=$!
note bind "$1" --pid "$job"
echo bound
code=0; wait "$job" || code=$?
note exit "$1" --code "$code"
`;

interface Launched {
  end(): Promise<number | null>;
}

/** Resolves when the work has begun and was noted. */
async function launch(observing: Pick<Observing, 'env' | 'repo'>, run: string): Promise<Launched> {
  const env = { ...observing.env, NOTE: client() };
  const child = spawn('sh', ['-c', script, 'launcher', run, observing.repo], { env, detached: true });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [pid] = await readChildren(child.pid!, child.stdout!);
  const end = async () => {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    return (await exited)[0];
  };
  onTestFinished(async () => {
    if (child.exitCode === null) await end();
  });
  return { end };
}

/** The job of the shell, once it says that it is bound. */
async function readChildren(shell: number, stdout: NodeJS.ReadableStream): Promise<number[]> {
  const [line] = await once(createInterface({ input: stdout }), 'line');
  expect(line).toBe('bound');
  return readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8').trim().split(' ').map(Number);
}

const notesIn = (observing: Observing): string[] =>
  readdirSync(join(observing.stateDir, 'spool', 'shell')).filter((name) => name.endsWith('.json'));

describe('a launcher that notes what it starts', () => {
  it('is taken in, looked at, and emptied from the spool (INT-04, INT-11)', async () => {
    const observing = new Observing();
    const launched = await launch(observing, 'nightly-1');
    expect((await observing.observe(['reconcile', '--once'])).json.data).toMatchObject({
      spool: { counts: { changed: 2, rejected: 0 }, lost: 0, more: false },
      pass: { lookedAt: 1, outcomes: { alive: 1 } },
    });
    expect(notesIn(observing)).toEqual([]);
    expect(await launched.end()).toBe(0);
    expect((await observing.observe(['reconcile'])).json.data).toMatchObject({
      spool: { counts: { changed: 1 }, lost: 0 },
      pass: { outcomes: { ended: 1 } },
    });
    expect((await observing.observe(['status'])).json.data).toMatchObject({
      runs: { bound: 0, withGaps: 0 },
      gaps: { recorded: 0 },
    });
  });

  it('has every note taken in before it leaves the spool, also when a later one came from elsewhere', async () => {
    const observing = new Observing();
    for (const run of ['a', 'b']) execFileSync(client(), ['reserve', run], { env: observing.env });
    const last = notesIn(observing).sort().at(-1)!;
    const { sum: _, ...line } = JSON.parse(readFileSync(join(observing.stateDir, 'spool', 'shell', last), 'utf8'));
    expect((await observing.ingest([{ ...line, run: 'c', seq: Number.MAX_SAFE_INTEGER }])).json.data).toMatchObject({
      counts: { changed: 1 },
      lost: Number.MAX_SAFE_INTEGER - 1,
    });
    const { json } = await observing.observe(['reconcile']);
    expect(json.data.spool).toMatchObject({ counts: { changed: 2 }, lost: 0 });
    expect(notesIn(observing)).toEqual([]);
    expect((await observing.observe(['status'])).json.data.runs).toMatchObject({ unbound: 3 });
  });

  it('loses a note visibly, and nothing else with it (INT-05, FAULT-10)', async () => {
    const observing = new Observing();
    const launched = await launch(observing, 'nightly-1');
    const [first] = notesIn(observing).sort();
    rmSync(join(observing.stateDir, 'spool', 'shell', first!));
    await launched.end();
    expect((await observing.observe(['ingest'])).json.data).toMatchObject({ counts: { changed: 2 }, lost: 1 });
    expect((await observing.observe(['status'])).json.data).toMatchObject({
      gaps: { open: 1, shown: [{ kind: 'note_lost', count: 1, producer: 'shell' }] },
    });
  });

  it('names what stands there and is no note, each time, and says since when it may be lost', async () => {
    const observing = new Observing();
    const directory = join(observing.stateDir, 'spool', 'shell');
    for (const round of [1, 2]) {
      for (const at of [1, 2, 3])
        execFileSync(client(), ['reserve', `job-${round}-${at}`, '--wait=60000'], { env: observing.env });
      const [, second] = notesIn(observing).sort();
      writeFileSync(join(directory, second!), 'nonsense');
      const { json } = await observing.observe(['ingest']);
      expect(json.data).toMatchObject({
        counts: { changed: 2, rejected: 0 },
        lost: 1,
        refusals: [{ seq: round * 3 - 1 }],
      });
      expect(json.data.refusals[0].reason).toContain(`kept as ${second}.refused`);
    }
    const { gaps } = (await observing.observe(['coverage'])).json.data;
    for (const { fromWallMs, toWallMs } of gaps) expect(fromWallMs).toBeLessThan(toWallMs);
  });

  it('is full when nobody takes it in: what comes after is one gap, and taking it in makes room (INT-05, FAULT-10)', async () => {
    const observing = new Observing();
    const small = clientBuiltWith('SMALL_SPOOL');
    const note = (run: string) =>
      execFileSync(small, ['reserve', run, '--wait=60000'], { env: observing.env, stdio: 'ignore' });
    for (const run of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) note(run);
    const last = notesIn(observing).sort().at(-1)!;
    const { at } = JSON.parse(readFileSync(join(observing.stateDir, 'spool', 'shell', last), 'utf8'));
    expect((await observing.observe(['ingest'])).json.data).toMatchObject({ counts: { changed: 4 }, lost: 3 });
    const { gaps } = (await observing.observe(['coverage'])).json.data;
    expect(gaps).toMatchObject([{ producer: 'shell', kind: 'note_lost', count: 3, fromWallMs: at.wallMs }]);
    expect(gaps[0].toWallMs).toBeGreaterThan(at.wallMs);
    note('h');
    expect((await observing.observe(['ingest'])).json.data).toMatchObject({ counts: { changed: 1 }, lost: 0 });
    expect((await observing.observe(['status'])).json.data).toMatchObject({
      runs: { unbound: 5 },
      gaps: { recorded: 1 },
    });
  });

  it('of which a bit is wrong has no say: it is named, kept, and a gap of its producer', async () => {
    const observing = new Observing();
    const directory = join(observing.stateDir, 'spool', 'shell');
    const words = ['bind', 'r', '--pid', String(process.pid), '--wait=60000'];
    execFileSync(client(), words, { env: observing.env });
    const [name = ''] = notesIn(observing);
    const text = readFileSync(join(directory, name), 'utf8');
    const wrong = text.replace(/(?<="pid":\d*)\d(?=,)/, (digit) => String(Number(digit) ^ 1));
    writeFileSync(join(directory, name), wrong);
    const kept = join(directory, `${name}.refused`);
    writeFileSync(join(directory, 'counter'), 'x', { flag: 'r+' });
    expect((await observing.observe(['ingest'])).json.data).toMatchObject({
      counts: { changed: 0 },
      lost: 1,
      refusals: [{ producer: 'shell', seq: 1, reason: expect.stringMatching(/note_damaged/) }],
      damagedCounters: ['shell'],
    });
    expect(readFileSync(kept, 'utf8')).toBe(wrong);
    expect((await observing.observe(['ingest', kept])).json.data).toMatchObject({
      counts: { invalid: 1 },
      refusals: [{ line: 1, reason: 'note_damaged' }],
    });
    expect((await observing.observe(['status'])).json.data).toMatchObject({
      runs: { bound: 0 },
      gaps: { shown: [{ kind: 'note_lost', count: 1 }] },
    });
  });

  it('takes each note in once, whenever whoever takes it is killed (FAULT-01, FAULT-02)', async ({ annotate }) => {
    const observing = new Observing();
    await observing.observe(['status']);
    const kills = process.env.CUSTODY_SOAK === '1' ? 500 : 10;
    const note = (...words: string[]) => {
      const child = spawn(client(), [...words, '--wait=60000'], { env: observing.env, stdio: 'ignore' });
      return once(child, 'exit');
    };
    let killed = 0;
    let noted = 0;
    for (let round = 0; killed < kills; round += 1) {
      for (let at = 0; at < 4; at += 1) await note('reserve', `job-${round}-${at}`);
      noted += 4;
      const child = spawn(process.execPath, [cliProgram, 'observe', 'ingest'], { env: observing.env, stdio: 'ignore' });
      // Seeded: somewhere between its start and its end here.
      const timer = setTimeout(() => child.kill('SIGKILL'), 40 + ((round * 53) % 240));
      const [, signal] = await once(child, 'exit');
      clearTimeout(timer);
      if (signal === 'SIGKILL') killed += 1;
    }
    expect((await observing.observe(['ingest'])).json.data).toMatchObject({ lost: 0, more: false });
    expect(notesIn(observing)).toEqual([]);
    const { runs, producers } = (await observing.observe(['status'])).json.data;
    expect([runs.unbound, producers[0].taken, producers[0].lost]).toEqual([noted, noted, 0]);
    await annotate(`${killed} kills of whoever takes notes from the spool, ${noted} notes`);
  });

  it('is heard by a daemon at once, without being asked', async () => {
    const daemon = await testDaemon().start();
    const env = { ...daemon.home.env, CUSTODY_HOME: daemon.home.stateDir };
    const launched = await launch({ env, repo: daemon.home.repo }, 'nightly-1');
    const { actor } = await daemon.event({ type: 'identity.bound' });
    await daemon.event({ actor: actor.id, type: 'process.observed' });
    await launched.end();
    await daemon.event({ actor: actor.id, type: 'exit.reported' });
    const { runs } = await daemon.call('runs.list', {});
    expect(runs).toMatchObject([{ mode: 'observe', label: 'nightly build' }]);
  });

  it('in a spool that others may write to is refused, and nothing is taken (PRIV-04)', async () => {
    const observing = new Observing();
    const launched = await launch(observing, 'nightly-1');
    chmodSync(join(observing.stateDir, 'spool', 'shell'), 0o777);
    const directory = join(observing.stateDir, 'spool', 'shell');
    const reason = `others may look or write into ${directory}`;
    for (const command of ['ingest', 'reconcile']) {
      const { code, json } = await observing.observe([command]);
      expect(code).toBe(9);
      expect(json.data.spool ?? json.data).toMatchObject({ unread: [{ producer: 'shell', reason }] });
    }
    expect(notesIn(observing)).not.toEqual([]);
    await launched.end();
    // Neither that nor a stray file keeps back what others have noted.
    writeFileSync(join(observing.stateDir, 'spool', 'a-file'), '');
    execFileSync(client(), ['reserve', 'other', '--producer=zz'], { env: observing.env });
    expect((await observing.observe(['ingest'])).json.data).toMatchObject({
      counts: { changed: 1 },
      unread: [{ producer: 'a-file' }, { producer: 'shell' }],
    });
  });
});
