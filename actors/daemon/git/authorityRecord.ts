/**
 * Which installation controls a repository. The record lies in the common git directory, where every installation that
 * could reach the worktrees finds it: two of them never control one repository.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { OperatingError } from '../../runtime/operatingError.ts';

const fileName = 'custody.json';

interface AuthorityRecord {
  readonly version: 1;
  readonly installationId: string;
}

/** Claims the repository, or finds our own earlier claim. Throws `not_controller` (exit 4) for somebody else's. */
export function claimRepository(commonGitDir: string, installationId: string): void {
  const path = join(commonGitDir, fileName);
  const draft = join(commonGitDir, `.custody-${randomUUID()}`);
  try {
    writeRecord(draft, { version: 1, installationId });
    // Linking refuses a name that is taken, and nobody ever reads half a record.
    linkSync(draft, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') {
      throw new OperatingError({
        code: 'repository_not_writable',
        message: `the git directory cannot be written: ${code}`,
        exitCode: 13,
      });
    }
    assertOurs(path, installationId);
  } finally {
    rmSync(draft, { force: true });
  }
}

function writeRecord(path: string, record: AuthorityRecord): void {
  const file = openSync(path, 'wx', 0o644);
  try {
    writeSync(file, `${JSON.stringify(record)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function assertOurs(path: string, installationId: string): void {
  let holder: unknown;
  try {
    holder = (JSON.parse(readFileSync(path, 'utf8')) as AuthorityRecord).installationId;
  } catch {
    holder = undefined;
  }
  if (holder === installationId) return;
  throw new OperatingError({
    code: 'not_controller',
    message: `another Custody installation (${typeof holder === 'string' ? holder.slice(0, 64) : 'unreadable record'}) controls this repository`,
    exitCode: 4,
    next: [`use that installation, or remove ${path} if it is gone for good`],
  });
}
