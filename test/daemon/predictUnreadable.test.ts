/** What lies inside of a worktree and cannot be looked into is never taken for nothing. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { entriesOf } from '../../actors/daemon/prediction/directory.ts';
import { LookFailed } from '../../actors/daemon/prediction/gitLook.ts';
import { lookForNested } from '../../actors/daemon/prediction/nested.ts';

const path = mkdtempSync(join(tmpdir(), 'custody-unreadable-'));
const question = { path, commonGitDir: join(path, 'none'), limitMs: 10_000, evidenceId: 'E1' };
const context = { host: { list: () => [] }, clock: { monoMs: () => 0 } } as never;
/** Longer than NAME_MAX, which root may not read either. */
const tooLong = `${'x'.repeat(300)}/`;

it('a directory that is gone, or is none, holds nothing; of any other that cannot be read nobody can say so', async () => {
  writeFileSync(join(path, 'file'), '');
  for (const name of ['gone', 'file']) expect(await entriesOf(join(path, name))).toEqual([]);
  await expect(entriesOf(join(path, tooLong))).rejects.toThrow(/cannot be looked into \(ENAMETOOLONG\)/);
});

it('an ignored directory that cannot be read fails the look; one beside it is found', async () => {
  mkdirSync(join(path, 'ignored', 'clone', '.git'), { recursive: true });
  const found = await lookForNested(context, { ...question, ignored: ['ignored/'] });
  expect(found).toMatchObject([{ code: 'nested_repository', count: 1 }]);
  const failed = lookForNested(context, { ...question, ignored: ['ignored/', tooLong] });
  await expect(failed).rejects.toThrow(LookFailed);
});
