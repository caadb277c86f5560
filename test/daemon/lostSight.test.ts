import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { rowDigest } from '../../persistence/digest.ts';
import { turns } from '../guardian/support/fifo.ts';
import { testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand } from '../support/daemonFailpoints.ts';

const deaf = () => [...failingDaemonCommand(), '--deaf'];

describe('OBS-07, OWN-04: a guardian that is gone', () => {
  it('is asked for its receipt before its absence counts, also where no change of a file is heard of', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_OBSERVE_INTERVAL_MS: '50' } }).start(deaf());
    const { goalId } = await daemon.goal();
    for (let nth = 0; nth < 5; nth += 1) {
      const { runId, scopeId } = await daemon.exec(goalId, `exit ${nth}`);
      expect(await daemon.proved(runId)).toMatchObject({
        result: { how: 'exited', code: nth },
        scope: { state: 'exited', proof: 'own_receipt' },
      });
      const seen = await daemon.events({ actor: scopeId!, type: 'guardian.observed' });
      expect(seen.filter(({ payload }) => payload.result === 'absent')).toEqual([]);
    }
  });
});

describe('OWN-10, ruling 27: a damaged row', () => {
  it('fails closed for its own scope and Goal, is named, and costs nobody else anything', async () => {
    const daemon = await testDaemon().start();
    const [one, two] = [await daemon.goal(), await daemon.goal()];
    const turn = turns(daemon.home.dir);
    const damaged = await daemon.exec(one.goalId, 'exec sleep 600');
    const intact = await daemon.exec(two.goalId, `read line < "${turn.paths[1]}"; exit 7`);
    await daemon.kill('SIGTERM');
    const database = new Database(join(daemon.home.stateDir, 'custody.db'));
    const flip = database.prepare(
      'UPDATE actors SET snapshot = replace(snapshot, \'"live"\', \'"LIVE"\') WHERE id = ?',
    );
    expect(flip.run(damaged.scopeId).changes).toBe(1);
    database.close();
    await daemon.start();
    const { health, capacity } = await daemon.call('status', {});
    expect(health.state).toBe('ownership_unverified');
    expect(health.reasons).toContainEqual(
      expect.objectContaining({
        scopeId: damaged.scopeId,
        code: 'record_corrupt',
        detail: 'its stored record does not match its digest',
      }),
    );
    expect([...capacity.scopeIds].sort()).toEqual([damaged.scopeId, intact.scopeId].sort());
    expect(await daemon.scope(damaged.scopeId)).toMatchObject({ holdsSlot: true, assessment: { state: 'unverified' } });
    expect(await daemon.refusal('runs.exec', daemon.launchArguments(one.goalId, 'true'))).toMatchObject({
      code: 'ownership_unverified',
      exitCode: 6,
    });
    await turn.release();
    expect(await daemon.proved(intact.runId)).toMatchObject({ result: { code: 7 }, scope: { state: 'exited' } });
    const next = await daemon.exec(two.goalId, 'exit 2');
    expect(await daemon.proved(next.runId)).toMatchObject({ result: { code: 2 } });
    const { checks } = await daemon.call('doctor', {});
    expect(checks.find(({ id }) => id === 'integrity')).toMatchObject({
      ok: false,
      detail: expect.stringContaining(damaged.scopeId!),
    });
  });
});

it('a record of a newer version is called that, and not damaged: no backup has to be restored for it', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const turn = turns(daemon.home.dir);
  const { scopeId } = await daemon.exec(goalId, `read line < "${turn.paths[1]}"`);
  await daemon.kill('SIGTERM');
  const database = new Database(join(daemon.home.stateDir, 'custody.db'));
  const row = database.prepare('SELECT * FROM actors WHERE id = ?').get(scopeId) as Readonly<
    Record<'actor' | 'kind' | 'version' | 'settled' | 'released' | 'snapshot', string | number>
  >;
  const definition = database
    .prepare("INSERT INTO definitions (kind, version, structural_hash) VALUES ('executionScope', 999, 'x')")
    .run().lastInsertRowid;
  const { actor, kind, version, settled, released, snapshot } = row;
  const digest = rowDigest(actor, kind, scopeId!, 999, 'x', version, settled, released, snapshot);
  database.prepare('UPDATE actors SET definition = ?, digest = ? WHERE id = ?').run(definition, digest, scopeId);
  database.close();
  await daemon.start();
  const { health } = await daemon.call('status', {});
  const detail = expect.stringMatching(/was written by version 999 of its chart/);
  expect(health.reasons).toContainEqual(expect.objectContaining({ scopeId, code: 'record_corrupt', detail }));
  await turn.release();
});
