import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wrapped } from './support/programs.ts';
import { exists, gated, runToEnd, workDirectory } from './support/scope.ts';

/** Numbers of asm-generic/errno.h. */
const [EPERM, ENOSYS, EOPNOTSUPP] = [1, 38, 95];

describe('a kernel, or a filter, that lacks what the proof needs (GRD-01)', () => {
  it.each([
    ['the subreaper flag', 'subreaper', { step: 'subreaper', errno: EPERM }],
    ['the subreaper flag, and says it has it', 'subreaper-silently', { step: 'subreaper', errno: EOPNOTSUPP }],
    ['signalfd', 'signalfd', { step: 'signalfd', errno: ENOSYS }],
    ['close_range', 'close-range', { step: 'closeRange', errno: ENOSYS }],
    ['pidfd_open', 'pidfd', { step: 'proc', errno: ENOSYS }],
  ])('%s is refused with 125 and the image does not run', async (_name, denied, refusal) => {
    const directory = workDirectory();
    const ran = join(directory, 'ran');
    const attempt = gated(['touch', ran], { guardianPath: wrapped(directory, ['deny', denied]) });
    await expect(attempt).rejects.toMatchObject({ code: 'guardian_refused', exitCode: 125, ...refusal });
    expect(exists(ran)).toBe(false);
  });

  it('clone3 is not needed', async () => {
    const scope = await runToEnd(['true'], { guardianPath: wrapped(workDirectory(), ['deny', 'clone3']) });
    expect(scope.code).toBe(0);
  });

  it('RENAME_NOREPLACE is replaced by a hard link, which refuses an existing name too', async () => {
    const guardianPath = wrapped(workDirectory(), ['deny', 'rename-flag']);
    const scope = await runToEnd(['sh', '-c', 'exit 8'], { guardianPath });
    expect([scope.code, scope.receipt('exit').code]).toEqual([0, 8]);
    const scopeDir = join(workDirectory(), 'scope');
    const argv = ['sh', '-c', `echo forged > '${join(scopeDir, 'exit.json')}'`];
    const forged = await runToEnd(argv, { guardianPath, scopeDir });
    expect(forged.code).toBe(74);
  });
});
