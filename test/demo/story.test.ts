/** The main job, told by the shipped program and checked from outside: drills D1 and D2 in one go. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Finished, json } from '../cli/support/program.ts';
import { demo, nobodyLeft, type Stage, stage } from './support/stage.ts';

const promisedMs = 60_000;

describe('custody demo --json', () => {
  let at: Stage;
  let before: string[];
  let ended: Finished;
  // biome-ignore lint/suspicious/noExplicitAny: the tests are what checks this shape
  let data: any;

  beforeAll(async () => {
    at = stage();
    before = at.untouched();
    ended = await demo(at, ['--json']);
    data = json(ended).data;
  });
  afterAll(() => at.remove());

  it('succeeds in time with one object and nothing else', () => {
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(json(ended)).toMatchObject({ ok: true, command: 'demo', warnings: [] });
    expect(data.elapsedMs).toBeLessThan(promisedMs);
  });

  it('verifies the contract of this host before anything relies on it', () => {
    expect(data.contract).toMatchObject({ name: 'scope-exit-proof/1', verified: true });
    expect(data.contract.checks.length).toBeGreaterThan(0);
    expect(data.contract.checks.every(({ ok }: { ok: boolean }) => ok)).toBe(true);
    expect(data.doesNotCover.length).toBeGreaterThan(0);
  });

  it('finds the same guardian and the same work after the daemon was killed, launched once (D2)', () => {
    const { daemonPid, guardianPid, workloadPid, hostPid, launches } = data.adoption;
    expect(daemonPid.after).not.toBe(daemonPid.before);
    expect(guardianPid.after).toBe(guardianPid.before);
    expect(workloadPid.after).toBe(workloadPid.before);
    expect(hostPid.after).toBe(hostPid.before);
    expect(new Set([daemonPid.after, guardianPid.after, workloadPid.after, hostPid.after]).size).toBe(4);
    expect(launches).toEqual({ prepared: 1, released: 1 });
  });

  it('shows that the work went on while there was no daemon', () => {
    expect(data.adoption.linesWithoutDaemon).toEqual({ from: 1, to: 2 });
  });

  it('is watched by three viewers one after the other, the last of whom is shown the whole screen again', () => {
    const { viewers, repainted } = data.adoption;
    expect(new Set(Object.values(viewers)).size).toBe(3);
    expect(repainted).toEqual([
      expect.stringMatching(/^reads: Count files and commits/),
      'asks: may I count the files? yes',
      expect.stringMatching(/^writes: files \d+$/),
      'asks: may I count the commits too? yes',
      expect.stringMatching(/^writes: commits \d+$/),
      'asks: may I commit?',
    ]);
  });

  it('reads all that was on the screen from the recording, to its end', () => {
    const { complete, lines, bytes, asciicast } = data.recording;
    expect(complete).toBe(true);
    expect(lines.slice(0, 5)).toEqual(data.adoption.repainted.slice(0, 5));
    expect(lines.slice(5)).toEqual(['asks: may I commit? yes', `commits: ${data.commit}`]);
    expect(bytes).toBeGreaterThan(lines.join('').length);
    expect(asciicast).toMatchObject({ events: expect.any(Number), seconds: expect.any(Number) });
    expect(asciicast.events).toBeGreaterThan(0);
  });

  it('records a commit and the result of its check', () => {
    expect(data.commit).toMatch(/^[0-9a-f]{40,64}$/);
    expect(data.check.resultAt).toBeGreaterThan(0);
  });

  it('is refused the seal, with the name of who stands against it (D1)', () => {
    const { refusal, holders, pid, summary, runId } = data.escapee;
    expect(refusal).toMatchObject({ code: 'seal_refused', exitCode: 13 });
    expect(holders.map((holder: { pid: number }) => holder.pid)).toEqual([pid]);
    expect(summary).toBe(`root ended, tree not drained; held open by pid ${pid} (sleep)`);
    const exit = data.receipts.find(
      (receipt: { runId: string; kind: string }) => receipt.runId === runId && receipt.kind === 'exit',
    );
    expect(exit.receipt).toMatchObject({ proof: 'ECHILD', reaped: 2, adopted: 1, terminated: true });
  });

  it('seals with the receipts of every run', () => {
    expect(data.sealed).toMatchObject({ lifecycle: 'sealed', stop: { outcome: 'proved', proof: 'own_receipt' } });
    const kinds = data.receipts.map(({ run, kind, status }: Record<string, string>) => `${run} ${kind} ${status}`);
    const runs = ['agent', 'check', 'escapee'];
    expect(kinds).toEqual(runs.flatMap((run) => ['start', 'status', 'exit'].map((kind) => `${run} ${kind} authentic`)));
  });

  it('leaves nobody running and nothing behind, in the directory for temporary files or anywhere else', async () => {
    expect(data.closing).toMatchObject({ removed: true, processesLeft: [] });
    expect(data.closing.directory.startsWith(`${at.tmp}/custody-demo-`)).toBe(true);
    expect(at.leftFiles()).toEqual([]);
    expect(at.untouched()).toEqual(before);
    await nobodyLeft(at);
  });
});

describe('custody demo, for people', () => {
  let at: Stage;
  let ended: Finished;

  beforeAll(async () => {
    at = stage();
    ended = await demo(at, []);
  });
  afterAll(() => at.remove());

  const pidIn = (pattern: RegExp): string => pattern.exec(ended.stdout)?.[1] ?? `nothing like ${pattern}`;

  it('tells what it saw: the same pids at every mention', () => {
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const [guardian, root] = [pidIn(/agent +run \w+: guardian pid (\d+)/), pidIn(/agent +run .* root pid (\d+)/)];
    const host = pidIn(/session .* held by PTY host pid (\d+)/);
    const three = `guardian pid ${guardian}, root pid ${root}, PTY host pid ${host}`;
    expect(ended.stdout).toContain(`alive      ${three}\n`);
    expect(ended.stdout).toContain(`adopted    ${three}: the same three\n`);
    expect(ended.stdout).toContain(`PTY host   pid ${host} was sent home`);
    expect(ended.stdout).toContain(`guardian ${guardian} holds ${root} behind its gate`);
    const escapee = pidIn(/leaves: pid (\d+)/);
    expect(ended.stdout).toContain(`held open by pid ${escapee} (sleep)`);
    expect(ended.stdout).toContain(`holder     pid ${escapee} (sleep)`);
    const [daemon, viewer] = [pidIn(/kill -KILL (\d+)/), pidIn(/kill -KILL \d+ (\d+)/)];
    expect(ended.stdout).toContain(`daemon pid ${daemon} and viewer pid ${viewer} are gone`);
  });

  it('shows no control character to a pipe, and no word that stands for a missing value', () => {
    expect(ended.stdout).not.toMatch(/[^\P{Cc}\n]/u);
    expect(ended.stdout).not.toMatch(/undefined|null|NaN|\[object/);
  });

  it('says nothing with --quiet but the two ids', async () => {
    const quiet = await demo(at, ['--quiet']);
    expect(quiet).toMatchObject({ code: 0, stderr: '' });
    expect(quiet.stdout).toMatch(/^G\w{10}\nW\w{10}\n$/);
  });
});

describe('custody demo --keep', () => {
  let at: Stage;
  beforeAll(() => {
    at = stage();
  });
  afterAll(() => at.remove());

  it('leaves the recording where it said, for others to play, and nobody running', async () => {
    const ended = await demo(at, ['--json', '--keep']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const { recording, commit, closing } = json(ended).data;
    expect(at.leftFiles().map((name) => join(at.tmp, name))).toEqual([closing.directory]);
    const [header, ...events] = readFileSync(recording.asciicast.file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(header).toMatchObject({ version: 2, width: 80, height: 24 });
    expect(events).toHaveLength(recording.asciicast.events);
    expect(events.map(([, , text]) => text).join('')).toContain(`commits: ${commit}\r\n`);
    await nobodyLeft(at);
  });
});
