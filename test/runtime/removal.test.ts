/** RET-04: what is removed below the state directory, and what never is. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { entriesPerCall, removeBelow } from '../../actors/runtime/removal.ts';

function places() {
  const dir = mkdtempSync(join(tmpdir(), 'custody-removal-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const root = join(dir, 'state');
  const elsewhere = join(dir, 'elsewhere');
  mkdirSync(join(root, 'scopes', 'S1', 'deep'), { recursive: true });
  mkdirSync(join(elsewhere, 'S1'), { recursive: true });
  writeFileSync(join(root, 'scopes', 'S1', 'stdout.log'), '12345');
  writeFileSync(join(root, 'scopes', 'S1', 'deep', 'more'), '123');
  writeFileSync(join(elsewhere, 'precious'), 'x');
  writeFileSync(join(elsewhere, 'S1', 'precious'), 'x');
  return { root, elsewhere };
}

describe('RET-04: files below the state directory', () => {
  it('a directory with everything in it; twice is no error', () => {
    const { root } = places();
    expect(removeBelow(root, ['scopes', 'S1'])).toEqual({ bytes: 8, isDone: true });
    expect(readdirSync(join(root, 'scopes'))).toEqual([]);
    expect(removeBelow(root, ['scopes', 'S1'])).toEqual({ bytes: 0, isDone: true });
    expect(removeBelow(root, ['nothing', 'S1'])).toEqual({ bytes: 0, isDone: true });
  });

  it('a link inside goes itself, and nothing behind it', () => {
    const { root, elsewhere } = places();
    symlinkSync(elsewhere, join(root, 'scopes', 'S1', 'link'));
    symlinkSync(join(elsewhere, 'precious'), join(root, 'scopes', 'S1', 'file'));
    removeBelow(root, ['scopes', 'S1']);
    expect(existsSync(join(root, 'scopes', 'S1'))).toBe(false);
    expect(readdirSync(elsewhere).sort()).toEqual(['S1', 'precious']);
  });

  it('a link on the way is refused', () => {
    const { root, elsewhere } = places();
    rmSync(join(root, 'scopes'), { recursive: true });
    symlinkSync(elsewhere, join(root, 'scopes'));
    expect(() => removeBelow(root, ['scopes', 'S1'])).toThrow(expect.objectContaining({ code: 'removal_refused' }));
    expect(existsSync(join(elsewhere, 'S1', 'precious'))).toBe(true);
  });

  it.each([['..'], ['.'], ['a/b'], [''], ['-x'], ['x\0'], ['../elsewhere']])('no name like %j', (name) => {
    const { root, elsewhere } = places();
    expect(() => removeBelow(root, ['scopes', name])).toThrow(expect.objectContaining({ code: 'removal_refused' }));
    expect(() => removeBelow(root, [name, 'S1'])).toThrow(expect.objectContaining({ exitCode: 9 }));
    expect(readdirSync(elsewhere)).toHaveLength(2);
  });

  it('a bounded part at a time', () => {
    const { root } = places();
    const count = 2 * entriesPerCall;
    for (let n = 0; n < count; n += 1) writeFileSync(join(root, 'scopes', 'S1', `f${n}`), '1');
    expect(removeBelow(root, ['scopes', 'S1']).isDone).toBe(false);
    expect(readdirSync(join(root, 'scopes', 'S1')).length).toBeGreaterThanOrEqual(count - entriesPerCall);
    let calls = 1;
    while (!removeBelow(root, ['scopes', 'S1']).isDone) calls += 1;
    expect(calls).toBe(2);
  });
});
