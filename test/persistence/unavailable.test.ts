import { chmodSync, chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundled, child, node, nodeWithMounts } from './support/children.ts';
import { opened, stateDirIn, temporaryDirectory } from './support/temporaryStore.ts';

const mounts = bundled('test/persistence/fixtures/mounts.ts', 'mounts');
const opener = bundled('test/persistence/fixtures/opener.ts', 'unavailableOpener');

/** Everything that a scenario has to say. */
async function observed(scenario: string): Promise<unknown[]> {
  const run = nodeWithMounts(mounts, scenario, temporaryDirectory());
  const lines: unknown[] = [];
  for await (const line of run.lines) lines.push(JSON.parse(line));
  expect(await run.ended).toEqual({ code: 0, signal: null, stderr: '' });
  return lines;
}

describe('FAULT-08, JRN-10: a full disk', () => {
  it('refuses writes by name, keeps reading, loses nothing, and goes on when there is room', async () => {
    const full = { code: 'store_full', exitCode: 10 };
    expect(await observed('fullDisk')).toEqual([
      { write: full },
      { write: full },
      { read: ['xxxxxxxxxx', null], list: [] },
      { backup: full, left: ['ballast', 'state'] },
      { write: 'fine' },
      { open: { code: expect.stringMatching(/^store_(full|io)$/), exitCode: 10 } },
      { kept: [10, null, 10] },
    ]);
  });

  it('JRN-09: leaves no half-made store behind', async () => {
    expect(await observed('fullDiskAtFounding')).toEqual([
      { found: { code: expect.stringMatching(/^store_(full|io)$/), exitCode: 10 } },
      { found: false },
      { found: 'fine' },
    ]);
  });
});

describe('FAULT-08, JRN-10: no access', () => {
  it('names a read-only file system', async () => {
    const refused = { code: 'store_readonly', exitCode: 9 };
    expect(await observed('readOnly')).toEqual([{ open: refused, create: refused }]);
  });

  /** Permission bits mean nothing to root, so root gives the directory to nobody and lets nobody look. */
  const isRoot = process.getuid?.() === 0;
  const nobody = 65_534;

  function ordinaryUsersStore(): string {
    const stateDir = stateDirIn(temporaryDirectory());
    opened({ stateDir }).close();
    if (isRoot) {
      chmodSync(join(stateDir, '..'), 0o711);
      for (const name of ['', ...readdirSync(stateDir)]) chownSync(join(stateDir, name), nobody, nobody);
    }
    return stateDir;
  }

  const openedByUser = async (stateDir: string) => {
    const run = isRoot ? child(process.execPath, [opener, stateDir], { uid: nobody }) : node(opener, stateDir);
    return JSON.parse((await run.nextLine()).replace('opened', '"opened"'));
  };

  const refused = { code: 'store_permissions', exitCode: 9 };
  it.each([
    { what: 'nothing', name: '.', mode: 0o700, answer: 'opened' },
    { what: 'the directory', name: '.', mode: 0o000, answer: refused },
    { what: 'making files', name: '.', mode: 0o500, answer: refused },
    { what: 'the database', name: 'custody.db', mode: 0o000, answer: refused },
    { what: 'writing', name: 'custody.db', mode: 0o400, answer: refused },
    { what: 'the lock', name: 'lock.db', mode: 0o000, answer: refused },
  ])('answers by name when the user is refused $what', async ({ name, mode, answer }) => {
    const stateDir = ordinaryUsersStore();
    chmodSync(join(stateDir, name), mode);
    expect(await openedByUser(stateDir)).toEqual(answer);
    chmodSync(stateDir, 0o700);
  });
});
