/** A journal that the program has really written holds; one that says something else than the machines do is found out. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchOf, notReleased, runReserved, scopeRequested, statusReceipt } from '../../../inspect/verify/evidence.ts';
import { JournalCheck, type JournaledEvent, Wholeness } from '../../../inspect/verify/journal.ts';
import { type Installation, installation } from '../../cli/support/installation.ts';
import { damageEntry } from '../../support/damage.ts';

describe('the journal of an installation', () => {
  let here: Installation;
  beforeAll(async () => {
    here = await installation();
    const { goalId } = await here.goalWithWorktree();
    for (const status of ['true', 'false']) await here.custody(['runs', 'exec', goalId, '--follow', '--', status]);
    await here.custody(['goals', 'cancel', goalId]);
  });
  afterAll(() => here.dispose());

  it('holds while a daemon serves', async () => {
    const answer = await here.custody(['verify', '--journal', '--json']);
    const { data } = JSON.parse(answer.stdout);
    expect(data.findings).toEqual([]);
    expect(answer.code).toBe(0);
    expect(data.unreplayable).toBe(0);
    expect(data.replayed).toBe(data.events);
    expect(data.replayed).toBeGreaterThan(20);
    expect(data.invariants.length).toBeGreaterThan(30);
  });

  it('holds as a listing, in which an event that was put in the place of another is found', async () => {
    const file = join(here.dir, 'events.json');
    writeFileSync(file, (await here.custody(['events', '--json', '--limit', '1000'])).stdout);
    const whole = await here.custody(['verify', '--journal', file, '--json']);
    expect(JSON.parse(whole.stdout).data).toMatchObject({ findings: [] });

    const listing = JSON.parse(readFileSync(file, 'utf8'));
    const released = listing.data.events.find(({ type }: { type: string }) => type === 'launch.releaseCommitted');
    released.type = 'drain.quiesced';
    released.payload = { members: {}, total: 0, scans: 2 };
    writeFileSync(file, JSON.stringify(listing));
    const bent = await here.custody(['verify', '--journal', file, '--json']);
    expect(bent.code).toBe(1);
    expect(JSON.parse(bent.stdout).data.findings[0]).toMatchObject({ invariant: 'JRN-05', type: 'drain.quiesced' });
  });

  it('is refused where the file is no listing of events', async () => {
    const file = join(here.dir, 'notes.txt');
    const listed = { position: 1, version: 1, type: 'goal.created', eventId: 'E', wallMs: 1, outcome: 'changed' };
    const nothing = { ...listed, actor: { kind: 'goal', id: 'G' }, payload: null };
    const texts = ['', ' \n', 'nothing\n', 'null', '5', '{"data":5}', '{"data":{"events":5}}', '{"data":{"events":'];
    for (const text of [...texts, '{"data":{"events":[null]}}', JSON.stringify(nothing), '\0\xff']) {
      writeFileSync(file, text);
      const answer = await here.custody(['verify', '--journal', file, '--json']);
      const { error } = JSON.parse(answer.stdout);
      expect({ text, code: answer.code, error: error.code }).toEqual({ text, code: 2, error: 'usage' });
      expect(error.message.match(/is no listing/g), text).toHaveLength(1);
    }
  });

  it('is not called sound where nothing of it was replayed', async () => {
    const file = join(here.dir, 'tail.json');
    writeFileSync(file, (await here.custody(['events', '--json', '--limit', '1'])).stdout);
    const answer = await here.custody(['verify', '--journal', file]);
    expect(answer.stdout).toContain('nothing was replayed');
    expect(answer.stdout).not.toContain('no invariant is broken');
    expect(answer.code).toBe(5);
  });

  it('that has a damaged row is not held against those whose rows are whole', async () => {
    const position = damageEntry(here.stateDir, { kind: 'run', type: 'workload.statusReceipt' });
    const answer = await here.custody(['verify', '--journal', '--json']);
    const { data } = JSON.parse(answer.stdout);
    expect(data).toMatchObject({ damaged: 1, findings: [] });
    expect(data.replayed).toBeGreaterThan(20);
    expect(answer.code, `of position ${position}`).toBe(9);
  });
});

let position = 0;
const event = (to: readonly [string, string], type: string, rest: Partial<JournaledEvent>): JournaledEvent => {
  position += 1;
  const [kind, id] = to;
  const fixed = { position, actor: { kind, id }, eventId: `${position}`, type, instant: `${position}` };
  return { ...fixed, outcome: 'changed', version: 1, payload: {}, ...rest };
};

const checked = (...events: readonly JournaledEvent[]) => {
  const whole = new Wholeness();
  for (const one of events) whole.note(one);
  const check = new JournalCheck(whole);
  for (const one of events) check.take(one);
  return check.end();
};

describe('what a journal says', () => {
  const run = event(['run', 'R1'], 'run.reserved', { payload: runReserved('R1', { rootScopeId: 'S1' }) });
  const scope = event(['executionScope', 'S1'], 'scope.requested', { payload: scopeRequested('S1', { runId: 'R1' }) });
  const notStarted = event(['executionScope', 'S1'], 'launch.notStarted', {
    ...{ version: 2, payload: { errno: 'EAGAIN', phase: 'spawn' } },
  });

  it('of one actor is held against what another one has to know after the same commit', () => {
    const report = checked(run, scope, notStarted);
    expect(report.findings).toEqual([expect.objectContaining({ invariant: 'L-07', position: notStarted.position })]);
  });

  it('is whole where the relay stands in the same commit', () => {
    const cancelled = event(['run', 'R1'], 'admission.cancelled', {
      ...{ version: 2, causationId: notStarted.eventId, instant: notStarted.instant },
      payload: { gate: 'never_opened', scopeId: 'S1', proofEventId: notStarted.eventId },
    });
    expect(checked(run, scope, notStarted, cancelled)).toMatchObject({ findings: [], replayed: 4, commits: 3 });
  });

  it('is not judged where its beginning is gone, or a part is missing', () => {
    expect(checked(notStarted)).toMatchObject({ findings: [], replayed: 0, unreplayable: 1 });
    const later = { ...notStarted, version: 7 };
    expect(checked(scope, later)).toMatchObject({ findings: [], replayed: 1, unreplayable: 1 });
  });

  it('is not judged by what an actor would have to know of which something is missing later on', () => {
    const reserved = event(['run', 'R1'], 'run.reserved', { payload: runReserved('R1', { rootScopeId: 'S1' }) });
    const far = event(['run', 'R1'], 'identity.observed', { version: 9 });
    expect(checked(reserved, scope, notStarted, far)).toMatchObject({ findings: [], replayed: 3, unreplayable: 1 });
  });

  it('is found where the machine refuses what is recorded as accepted', () => {
    const receipt = { ...statusReceipt(launchOf('S1', 1), notReleased) };
    const forged = event(['executionScope', 'S1'], 'workload.statusReceipt', { version: 2, payload: receipt });
    expect(checked(scope, forged).findings).toEqual([expect.objectContaining({ invariant: 'JRN-05' })]);
  });

  it('is not judged where it does not tell what a worker believed', () => {
    const goal = event(['goal', 'G1'], 'goal.created', {
      payload: { goalId: 'G1', title: 't', nodeId: 'N1', priority: 0, repoId: null },
    });
    const claim = event(['goal', 'G1'], 'claim.recorded', { version: 2, payload: { claimId: 'C1' } });
    expect(checked(goal, claim)).toMatchObject({ findings: [], replayed: 1, unreplayable: 1 });
  });
});
