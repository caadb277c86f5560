/**
 * Which installation controls a repository, and which worktrees of it. The record lies in the common git directory, where
 * every installation that could reach the worktrees finds it: two of them never control one repository.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson, sameJson } from '../../../machines/canonical.ts';
import { OperatingError } from '../../runtime/operatingError.ts';

const fileName = 'custody.json';

/** Control of one worktree generation (PROMO-01). */
export interface ControlRecord {
  readonly controller: string;
  readonly mode: string;
  readonly authorityEpoch: number;
  readonly path: string;
}
export type Controlled = Readonly<Record<string, ControlRecord>>;

interface AuthorityRecord {
  readonly version: 1;
  readonly installationId: string;
  /** By generation id; absent in what was written before any was recorded. */
  readonly generations?: Controlled;
}

/** Claims the repository, or finds our own earlier claim. Throws `not_controller` (exit 4) for somebody else's. */
export function claimRepository(commonGitDir: string, installationId: string): void {
  const path = join(commonGitDir, fileName);
  if (recordAt(path)?.installationId === installationId) return;
  const draft = join(commonGitDir, `.custody-${randomUUID()}`);
  try {
    writeRecord(draft, { version: 1, installationId });
    // Linking refuses a name that is taken, and nobody ever reads half a record.
    linkSync(draft, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw notWritable(code);
    assertOurs(path, installationId);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** What our own record says; undefined where there is none, or it is somebody else's. */
export function recordedControl(commonGitDir: string, installationId: string): Controlled | undefined {
  const record = recordAt(join(commonGitDir, fileName));
  return record?.installationId === installationId ? (record.generations ?? {}) : undefined;
}

/** Throws as `claimRepository` does. */
export function recordControl(commonGitDir: string, installationId: string, generations: Controlled): void {
  claimRepository(commonGitDir, installationId);
  if (sameJson(recordedControl(commonGitDir, installationId), generations)) return;
  const draft = join(commonGitDir, `.custody-${randomUUID()}`);
  try {
    writeRecord(draft, { version: 1, installationId, generations });
    // Only whoever has the claim replaces it, and one process at a time has it.
    renameSync(draft, join(commonGitDir, fileName));
  } catch (error) {
    throw notWritable((error as NodeJS.ErrnoException).code);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Gives the claim up, if it is ours: another installation may take the repository over. */
export function releaseRepository(commonGitDir: string, installationId: string): void {
  if (recordedControl(commonGitDir, installationId) === undefined) return;
  rmSync(join(commonGitDir, fileName), { force: true });
}

function recordAt(path: string): AuthorityRecord | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as AuthorityRecord;
  } catch {
    return undefined;
  }
}

function writeRecord(path: string, record: AuthorityRecord): void {
  const file = openSync(path, 'wx', 0o644);
  try {
    writeSync(file, `${canonicalJson(record)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const notWritable = (code: string | undefined): OperatingError =>
  new OperatingError({
    code: 'repository_not_writable',
    message: `the git directory cannot be written: ${code}`,
    exitCode: 13,
    next: ['see who may write in the git directory, and whether its disk is full'],
  });

function assertOurs(path: string, installationId: string): void {
  const holder: unknown = recordAt(path)?.installationId;
  if (holder === installationId) return;
  throw new OperatingError({
    code: 'not_controller',
    message: `another Custody installation (${typeof holder === 'string' ? holder.slice(0, 64) : 'unreadable record'}) controls this repository`,
    exitCode: 4,
    next: [`use that installation, or remove ${path} if it is gone for good`],
  });
}
