import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { receiptChecks } from '../../actors/observe/receipts/checks.ts';
import { type ReceiptFiles, receiptFiles } from '../../actors/observe/receipts/files.ts';
import { readReceipt } from '../../actors/observe/receipts/read.ts';
import { attempt, forgeries, garbage, read } from './support/forgeries.ts';
import { kinds, makeScopeDirectory, type ScopeDirectory } from './support/scopeDirectory.ts';

const open: ScopeDirectory[] = [];
function published(): ScopeDirectory {
  const scope = makeScopeDirectory();
  open.push(scope);
  scope.publishAll();
  return scope;
}
afterEach(() => {
  for (const scope of open.splice(0)) scope.close();
});

describe('GRD-05: a receipt is believed when everything about it holds', () => {
  it.each(kinds)('an honest %s receipt is authentic', (kind) => {
    expect(read(attempt(published(), kind))).toBe('authentic');
  });

  it('an absent receipt is absent, and so is one whose directory is gone', () => {
    const scope = makeScopeDirectory();
    open.push(scope);
    const { kind, scopeDir, expected } = attempt(scope);
    expect(readReceipt({ kind, scopeDir, expected })).toEqual({ status: 'absent', missing: 'receipt' });
    rmSync(scopeDir, { recursive: true });
    expect(readReceipt({ kind, scopeDir, expected })).toEqual({ status: 'absent', missing: 'directory' });
  });

  it.each(forgeries)('%s: %s', (_, reason, forge) => {
    const scope = published();
    const one = attempt(scope);
    forge(scope, one);
    expect(read(one)).toBe(reason);
  });

  it.each(forgeries)('%s: would be believed without the check %s', (_, reason, forge) => {
    const scope = published();
    const one = attempt(scope);
    forge(scope, one);
    expect(read(one, reason)).toBe('authentic');
  });

  it.each(garbage)('%s: %s', (_, reason, forge) => {
    const scope = published();
    const one = attempt(scope);
    forge(scope, one);
    expect(read(one)).toBe(reason);
  });

  it('every check of the list has a forgery of its own', () => {
    const covered = new Set(forgeries.map(([, reason]) => reason));
    expect(receiptChecks.map(({ reason }) => reason).filter((reason) => !covered.has(reason))).toEqual([]);
    expect(new Set(receiptChecks.map(({ reason }) => reason)).size).toBe(receiptChecks.length);
    expect(forgeries.length + garbage.length).toBeGreaterThanOrEqual(33);
  });

  it('a fifo, a directory and a socket under the name neither block nor pass', () => {
    const replace = (make: (path: string) => void) => {
      const scope = published();
      unlinkSync(scope.file('exit'));
      make(scope.file('exit'));
      return read(attempt(scope));
    };
    expect(replace((path) => execFileSync('mkfifo', ['-m', '600', path]))).toBe('not_regular');
    expect(replace((path) => mkdirSync(path, 0o600))).toBe('not_regular');
    expect(replace((path) => symlinkSync('/dev/zero', path))).toBe('symlink');
  });

  it('a file where the directory should be is refused', () => {
    const scope = published();
    rmSync(scope.path, { recursive: true });
    writeFileSync(scope.path, '');
    expect(read(attempt(scope))).toBe('directory_symlink');
  });

  it('an errno that says nothing about the receipt is named', () => {
    const failing = (errno: string): ReceiptFiles => ({
      ...receiptFiles,
      open: () => {
        throw Object.assign(new Error(errno), { code: errno });
      },
    });
    const scope = published();
    expect(read({ ...attempt(scope), files: failing('EMFILE') })).toBe('unreadable_emfile');
    expect(read({ ...attempt(scope), files: failing('EACCES') })).toBe('unreadable_eacces');
  });

  it('ruling 8: fields that nobody recorded are not compared', () => {
    const scope = published();
    const one = attempt(scope);
    const { scopeId, slot, nonceHash, installationId, uid, start, status } = one.expected;
    one.expected = { scopeId, slot, nonceHash, installationId, uid, start, status };
    expect(read(one)).toBe('authentic');
  });
});
