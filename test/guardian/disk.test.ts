import { chmodSync, mkdirSync, readdirSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reserveSlots } from '../../pty/launch/slots.ts';
import { guardianBuiltWith } from './support/programs.ts';
import { exists, gated, runToEnd, workDirectory } from './support/scope.ts';
import { smallDisk } from './support/smallDisk.ts';

const fill = (path: string) => `dd if=/dev/zero of='${path}' bs=4096 2>/dev/null; df -P '${path}' | tail -1`;

describe('the workload fills the disk (linux case 26)', () => {
  it('and all receipts are complete, because their space was reserved', async () => {
    const disk = await smallDisk('size=256k');
    const scope = await runToEnd(['sh', '-c', `${fill(join(disk, 'fill'))} >&2; exit 3`], {
      scopeDir: join(disk, 'scope'),
    });
    expect(scope.code).toBe(0);
    expect(statSync(join(disk, 'fill')).size).toBeGreaterThan(100_000);
    expect(() => writeFileSync(join(disk, 'more'), Buffer.alloc(4096))).toThrow(/ENOSPC/);
    expect(scope.receipt('status')).toMatchObject({ how: 'exited', code: 3 });
    expect(scope.receipt('exit')).toMatchObject({ how: 'exited', code: 3 });
  });

  it('and the exit receipt is lost, and said to be lost, where only its size was reserved', async () => {
    const disk = await smallDisk('size=256k');
    const scopeDir = join(disk, 'scope');
    const slots = await reserveSlots(scopeDir);
    truncateSync(join(scopeDir, 'exit.reserved'), 0);
    truncateSync(join(scopeDir, 'exit.reserved'), 4096);
    const scope = await runToEnd(['sh', '-c', fill(join(disk, 'fill'))], { scopeDir, slots });
    expect(scope.code).toBe(74);
    expect(exists(join(scopeDir, 'exit.json'))).toBe(false);
  });
});

describe('there is no room for evidence before the launch (linux case 27)', () => {
  it('the reservation fails by name and leaves nothing half made', async () => {
    const disk = await smallDisk('size=256k');
    await runToEnd(['sh', '-c', fill(join(disk, 'fill'))]);
    const scopeDir = join(disk, 'scope');
    await expect(reserveSlots(scopeDir)).rejects.toMatchObject({ code: 'evidence_unavailable', errno: 28 });
    expect(readdirSync(disk)).toEqual(['fill']);
  });

  it('the guardian refuses with 73 when it cannot make its socket, and the image does not run', async () => {
    const disk = await smallDisk('size=1m,nr_inodes=10'); // root, scope, four slots, two logs, ran, one to spare
    const ran = join(workDirectory(), 'ran');
    mkdirSync(join(disk, 'a'));
    mkdirSync(join(disk, 'b'));
    const attempt = gated(['touch', ran], { scopeDir: join(disk, 'scope') });
    await expect(attempt).rejects.toMatchObject({ code: 'guardian_refused', step: 'socket', exitCode: 73, errno: 28 });
    expect(exists(ran)).toBe(false);
  });

  it.each(['start.reserved', 'status.reserved', 'exit.reserved', 'adopted.log'])(
    'the guardian refuses with 73 without %s, or with another file in its place',
    async (name) => {
      const ran = join(workDirectory(), 'ran');
      for (const replacement of [undefined, Buffer.alloc(4096)]) {
        const scopeDir = join(workDirectory(), 'scope');
        const slots = await reserveSlots(scopeDir);
        renameSync(join(scopeDir, name), `${scopeDir}-${name}`); // not removed: its inode number would be given out again
        if (replacement) writeFileSync(join(scopeDir, name), replacement, { mode: 0o600 });
        const attempt = gated(['touch', ran], { scopeDir, slots });
        await expect(attempt).rejects.toMatchObject({ code: 'guardian_refused', phase: 'handshake', exitCode: 73 });
        expect(readdirSync(scopeDir).includes('ctl.sock')).toBe(false);
      }
      expect(exists(ran)).toBe(false);
    },
  );
});

describe('the workload interferes with the directory', () => {
  it('28 removes it: the receipt is lost, the guardian says so with 74', async () => {
    const scopeDir = join(workDirectory(), 'scope');
    const scope = await runToEnd(['rm', '-rf', scopeDir], { scopeDir });
    expect(scope.code).toBe(74);
    expect(exists(join(scopeDir, 'exit.json'))).toBe(false);
  });

  it('29 writes an exit receipt of its own: nothing is replaced, 74', async () => {
    const scopeDir = join(workDirectory(), 'scope');
    const forged = join(scopeDir, 'exit.json');
    const scope = await runToEnd(['sh', '-c', `echo forged > '${forged}'`], { scopeDir });
    expect(scope.code).toBe(74);
    expect(statSync(forged).ino.toString()).not.toBe(scope.slots.exit.ino);
    expect(scope.receipt('status')).toMatchObject({ how: 'exited', code: 0 });
  });

  const exchange = async (guardianPath?: string) => {
    const scopeDir = join(workDirectory(), 'scope');
    const slot = join(scopeDir, 'exit.reserved');
    const script = `rm '${slot}'; head -c 4096 /dev/zero > '${slot}'`;
    return runToEnd(['sh', '-c', script], { scopeDir, ...(guardianPath && { guardianPath }) });
  };

  it('exchanges the reserved file: another inode has no claim to durability, 74', async () => {
    expect((await exchange()).code).toBe(74);
  });

  it('which a guardian that does not compare inodes would report as durable', async () => {
    expect((await exchange(guardianBuiltWith('WITHOUT_SLOT_CHECK'))).code).toBe(0);
  });

  it('makes the directory read-only: an ordinary user’s receipts cannot get their names any more', async () => {
    const scopeDir = join(workDirectory(), 'scope');
    const scope = await runToEnd(['chmod', '0500', scopeDir], { scopeDir });
    chmodSync(scopeDir, 0o700);
    expect(scope.code).toBe(process.getuid!() === 0 ? 0 : 74);
  });
});
