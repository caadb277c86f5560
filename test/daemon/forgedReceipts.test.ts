import {
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { isGone } from '../guardian/support/processes.ts';
import { TestDaemon } from '../support/daemon.ts';
import { daemonHome } from '../support/daemonHome.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { eventually } from '../support/eventually.ts';

let daemon: TestDaemon;
let nth = 0;
beforeAll(async () => {
  daemon = await new TestDaemon(daemonHome()).start();
});
afterAll(() => daemon.dispose());

/** A run that waits for its turn; its shell finds its own scope directory in $S. */
async function waitingRun(script = ':') {
  nth += 1;
  const { goalId, generationId } = await daemon.goal();
  const turn = turns(daemon.home.dir, `turn${nth}`);
  const waiting = `S="${daemon.scopeDir('')}/$CUSTODY_SCOPE"; echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"; ${script}; exit 7`;
  const { runId, scopeId } = await daemon.exec(goalId, waiting);
  await turn.ready();
  const { guardian } = startReceipt(daemon.scopeDir(scopeId))!;
  const directory = daemon.scopeDir(scopeId);
  const file = (name: string) => join(directory, name);
  return { goalId, generationId, runId, scopeId: scopeId!, turn, guardian, directory, file };
}

type Waiting = Awaited<ReturnType<typeof waitingRun>>;

const findingsOf = async (scopeId: string) =>
  (await daemon.call('status', {})).health.reasons.filter((reason) => reason.scopeId === scopeId);

/** Shown for what it is, and believed in no respect: no proof, the slot kept, the seal refused. */
async function expectNeverProved({ runId, scopeId, generationId }: Waiting, finding: RegExp): Promise<void> {
  const waited = await daemon.attempt('runs.wait', { id: runId, until: 'proved' });
  expect(waited).toMatchObject({ ok: true, exitCode: 5, data: { scope: { state: 'unverified', certainty: 'gap' } } });
  const shown = await eventually(`a finding like ${finding}`, async () =>
    (await findingsOf(scopeId)).find(({ code, detail }) => finding.test(`${code}: ${detail}`)),
  );
  expect(shown.next.length).toBeGreaterThan(0);
  expect((await daemon.call('status', {})).capacity.scopeIds).toContain(scopeId);
  expect(await daemon.events({ actor: scopeId, type: 'guardian.exitReceipt' })).toEqual([]);
  await daemon.call('worktrees.close', { id: generationId });
  expect(await daemon.refusal('worktrees.seal', { id: generationId })).toMatchObject({ code: 'seal_refused' });
}

describe('GRD-05, GRD-10, RUN-03: what a workload does to its own receipts', () => {
  it.each([
    ['writes exit.json first (linux case 29)', 'echo forged > "$S/exit.json"', /receipt_refused_exit: .*wrong_inode/],
    [
      'makes exit.json a symbolic link (case 34)',
      'cp "$S/start.json" "$S/x"; ln -s x "$S/exit.json"',
      /receipt_refused_exit: .*symlink/,
    ],
    ['makes exit.json a directory', 'mkdir "$S/exit.json"', /receipt_refused_exit/],
    [
      'exchanges the reserved file',
      'cp "$S/exit.reserved" "$S/x"; mv "$S/x" "$S/exit.reserved"',
      /receipt_refused_exit: .*wrong_inode/,
    ],
  ])('%s: never proved, and the true status counts', async (_, script, finding) => {
    const run = await waitingRun(script);
    await run.turn.release();
    await isGone(run.guardian.pid);
    await expectNeverProved(run, finding);
    expect(await daemon.ended(run.runId)).toMatchObject({
      result: { how: 'exited', code: 7 },
      end: { evidence: 'status_receipt' },
    });
  });

  it('writes status.json first: neither it nor what follows from it is believed; the kernel ends the run', async () => {
    const run = await waitingRun('echo forged > "$S/status.json"');
    await run.turn.release();
    await isGone(run.guardian.pid);
    await expectNeverProved(run, /receipt_refused_status: .*wrong_inode/);
    expect(await daemon.ended(run.runId)).toMatchObject({ result: null, end: { evidence: 'kernel_observation' } });
  });

  it('removes the directory of its scope (case 28): no proof, and the loss is named', async () => {
    const run = await waitingRun('rm -rf "$S"');
    await run.turn.release();
    await isGone(run.guardian.pid);
    await expectNeverProved(run, /receipts_missing/);
    const { capture } = await daemon.call('runs.show', { id: run.runId });
    expect(capture.map(({ complete, reason }) => [complete, reason])).toEqual([
      [false, 'the file is gone'],
      [false, 'the file is gone'],
    ]);
  });

  it('keeps a hard link to its exit receipt (case 35): refused as long as it is there, authentic afterwards', async () => {
    const run = await waitingRun();
    const link = join(daemon.home.dir, 'link');
    linkSync(run.file('exit.reserved'), link);
    await run.turn.release();
    await isGone(run.guardian.pid);
    await expectNeverProved(run, /receipt_refused_exit: .*hard_linked/);
    rmSync(link);
    await daemon.restart();
    expect(await daemon.proved(run.runId)).toMatchObject({
      result: { code: 7 },
      scope: { state: 'exited', proof: 'own_receipt' },
    });
    expect(await findingsOf(run.scopeId)).toEqual([]);
  });

  it('publishes its own words in the reserved file itself: refused while it lives, and overwritten by the truth', async () => {
    const run = await waitingRun();
    const start = JSON.parse(readFileSync(run.file('start.json'), 'utf8'));
    const outcome = { how: 'exited', code: 0, signal: null, errno: null, waitStatus: 0 };
    const { v, kind: _, atNs, ...binding } = { ...start, nonce: 'ab'.repeat(16) };
    const counts = { proof: 'ECHILD', reaped: 1, adopted: 0, terminated: false, lostNested: 0 };
    const forged = { v, kind: 'exit', claim: 'no-descendants', ...binding, ...outcome, ...counts, atNs };
    const reserved = run.file('exit.reserved');
    writeFileSync(reserved, `${JSON.stringify(forged).padEnd(4095)}\n`, { flag: 'r+' });
    renameSync(reserved, run.file('exit.json'));
    const [finding] = await eventually('the finding', async () => {
      const found = await findingsOf(run.scopeId);
      return found.length > 0 ? found : undefined;
    });
    expect(finding).toMatchObject({
      code: 'receipt_refused_exit',
      detail: expect.stringMatching(/: wrong_nonce$/),
    });
    expect(await daemon.scope(run.scopeId)).toMatchObject({ assessment: { state: 'live' }, holdsSlot: true });
    await run.turn.release();
    expect(await daemon.proved(run.runId)).toMatchObject({
      result: { code: 7 },
      scope: { state: 'exited', proof: 'own_receipt' },
    });
  });
});

describe('GRD-05, REPL-08: what happens to receipts behind the back of a dead daemon', () => {
  async function endedUnseen(): Promise<Waiting> {
    const run = await waitingRun();
    await daemon.kill();
    await run.turn.release();
    await isGone(run.guardian.pid);
    expect(existsSync(run.file('exit.json'))).toBe(true);
    return run;
  }

  it.each([
    ['torn (case 31)', ({ file }: Waiting) => truncateSync(file('exit.json'), 100), /wrong_size/],
    ['replaced by a copy of itself', ({ file }: Waiting) => replaceByCopy(file('exit.json')), /wrong_inode/],
    [
      'emptied',
      ({ file }: Waiting) => writeFileSync(file('exit.json'), ' '.repeat(4096), { flag: 'r+' }),
      /receipt_refused_exit/,
    ],
  ])('%s before the first read: never proved', async (_, tamper, finding) => {
    const run = await endedUnseen();
    tamper(run);
    await daemon.start();
    await expectNeverProved(run, finding);
  });

  it('removed before the first read: unverified, and what is put back is read (RCPT-05)', async () => {
    const run = await endedUnseen();
    const kept = join(daemon.home.dir, 'kept');
    renameSync(run.file('exit.json'), kept);
    await daemon.start();
    const waited = await daemon.attempt('runs.wait', { id: run.runId, until: 'proved' });
    expect(waited).toMatchObject({ exitCode: 5, data: { scope: { state: 'unverified', reason: 'guardian_gone' } } });
    const blocked = await daemon.refusal('runs.exec', daemon.launchArguments(run.goalId, 'true'));
    expect(blocked).toMatchObject({ code: 'ownership_unverified', exitCode: 6, details: { scopeId: run.scopeId } });
    renameSync(kept, run.file('exit.json'));
    await daemon.restart();
    expect(await daemon.proved(run.runId)).toMatchObject({ scope: { state: 'exited', proof: 'own_receipt' } });
    expect(await daemon.exec(run.goalId, 'true')).toMatchObject({ goalId: run.goalId });
  });

  it('overwritten after the first read (case 30): the proof is in the journal and stays', async () => {
    const run = await waitingRun();
    await run.turn.release();
    await daemon.proved(run.runId);
    writeFileSync(run.file('exit.json'), 'x'.repeat(4096), { flag: 'r+' });
    rmSync(run.file('status.json'));
    await daemon.restart();
    const { scope, receipts } = await daemon.call('runs.show', { id: run.runId });
    expect(scope).toEqual({ state: 'exited', proof: 'own_receipt' });
    expect(receipts.map(({ status }) => status)).toEqual(['authentic', 'absent', 'not_authentic']);
  });
});

function replaceByCopy(path: string): void {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
}
