import { copyFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { isGone } from '../guardian/support/processes.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';

/** As a tool does it that knows nothing of references. */
function inStore(daemon: TestDaemon, change: (database: Database.Database) => void): void {
  const database = new Database(join(daemon.home.stateDir, 'custody.db'));
  database.pragma('foreign_keys = OFF');
  change(database);
  database.close();
}

function forget(daemon: TestDaemon, kind: string, id: string): void {
  inStore(daemon, (database) => {
    database
      .prepare('DELETE FROM links WHERE actor = (SELECT actor FROM actors WHERE kind = ? AND id = ?)')
      .run(kind, id);
    database.prepare('DELETE FROM actors WHERE kind = ? AND id = ?').run(kind, id);
  });
}

/** A run that waits, on a daemon that is gone. */
async function orphaned() {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const turn = turns(daemon.home.dir);
  const { runId, scopeId } = await daemon.exec(
    goalId,
    `echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"; exit 7`,
  );
  await turn.ready();
  const { guardianPid } = await daemon.scope(scopeId);
  await daemon.kill();
  const end = async () => {
    await turn.release();
    await isGone(guardianPid!);
  };
  return { daemon, goalId, runId, scopeId: scopeId!, end, turn };
}

const lost = { state: 'unverified', certainty: 'gap', reason: 'record_lost' };

describe('a scope whose record is gone', () => {
  it('OWN-03 I-41 is unverified, keeps its slot, and is proved by its own receipt when that comes', async () => {
    const { daemon, goalId, scopeId, turn } = await orphaned();
    forget(daemon, 'executionScope', scopeId);
    await daemon.start();
    expect(await daemon.scope(scopeId)).toMatchObject({ assessment: lost, holdsSlot: true });
    expect((await daemon.call('status', {})).capacity.scopeIds).toEqual([scopeId]);
    expect(await daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true'))).toMatchObject({
      code: 'ownership_unverified',
    });
    await turn.release();
    await daemon.event({ actor: scopeId, type: 'guardian.exitReceipt' });
    expect((await daemon.call('status', {})).capacity.used).toBe(0);
  });

  it('REPL-01 is restored as exited from its complete receipt, with the status of its run', async () => {
    const { daemon, runId, scopeId, end } = await orphaned();
    await end();
    forget(daemon, 'executionScope', scopeId);
    await daemon.start();
    await daemon.event({ actor: scopeId, type: 'guardian.exitReceipt' });
    expect(await daemon.call('runs.show', { id: runId })).toMatchObject({
      result: { how: 'exited', code: 7 },
      scope: { state: 'exited', proof: 'own_receipt' },
    });
  });

  /** Another digit, of whatever there is. */
  const other = (character: string): string => (character === '8' ? '7' : '8');
  const rewritten = (path: string, change: (text: string) => string): void =>
    writeFileSync(path, change(readFileSync(path, 'latin1')), 'latin1');

  it.each<readonly [string, (receipt: string, daemon: TestDaemon, scopeId: string) => void]>([
    ['its receipt is cut off', (receipt) => truncateSync(receipt, 100)],
    [
      'its receipt is another file',
      (receipt) => {
        copyFileSync(receipt, `${receipt}.new`);
        renameSync(`${receipt}.new`, receipt);
      },
    ],
    [
      'its receipt names another process',
      (receipt) =>
        rewritten(receipt, (text) => text.replace(/("pid":)(\d)/, (_all, key, digit) => `${key}${other(digit)}`)),
    ],
    [
      'its receipt names another scope',
      (receipt) =>
        rewritten(receipt, (text) => text.replace(/("scope":"S)(.)/, (_all, key, letter) => `${key}${other(letter)}`)),
    ],
    ['its receipt is gone', (receipt) => rmSync(receipt)],
    [
      'what the journal has of its launch is damaged',
      (_, daemon, scopeId) =>
        inStore(daemon, (database) =>
          database
            .prepare(
              `UPDATE journal SET envelope = envelope || ' ' WHERE type = 'launch.prepared' AND envelope ->> '$.actor.id' = ?`,
            )
            .run(scopeId),
        ),
    ],
    [
      'its registration is another one',
      (_, daemon, scopeId) =>
        inStore(daemon, (database) =>
          database
            .prepare(`DELETE FROM journal WHERE type = 'scope.requested' AND envelope ->> '$.actor.id' = ?`)
            .run(scopeId),
        ),
    ],
  ])('REPL-01 stays unverified where %s, and nothing is overwritten', async (_, spoil) => {
    const { daemon, scopeId, end } = await orphaned();
    await end();
    const receipt = join(daemon.scopeDir(scopeId), 'exit.json');
    spoil(receipt, daemon, scopeId);
    const before = readIfThere(receipt);
    forget(daemon, 'executionScope', scopeId);
    await daemon.start();
    expect(await daemon.scope(scopeId)).toMatchObject({
      assessment: { state: 'unverified', certainty: 'gap' },
      holdsSlot: true,
    });
    expect(readIfThere(receipt)).toBe(before);
    await daemon.restart();
    expect(await daemon.scope(scopeId)).toMatchObject({ assessment: { state: 'unverified', certainty: 'gap' } });
  });

  it('OWN-10 is not touched while its record is there and cannot be read', async () => {
    const { daemon, scopeId, end } = await orphaned();
    await end();
    inStore(daemon, (database) =>
      database.prepare(`UPDATE actors SET snapshot = ' ' || snapshot WHERE id = ?`).run(scopeId),
    );
    await daemon.start();
    expect(await daemon.scope(scopeId)).toMatchObject({ assessment: { reason: 'record_corrupt' } });
    expect(await daemon.events({ actor: scopeId, type: 'coverage.gap' })).toEqual([]);
  });
});

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
