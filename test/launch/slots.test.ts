import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { reserveSlots } from '../../pty/launch/slots.ts';
import { workDirectory } from '../guardian/support/scope.ts';

const names = ['adopted.log', 'exit.reserved', 'start.reserved', 'status.reserved'];

describe('reserving receipt space', () => {
  it('makes four private, fully allocated files and tells which they are', async () => {
    const scopeDir = join(workDirectory(), 'scope');
    const slots = await reserveSlots(scopeDir);
    expect(readdirSync(scopeDir).sort()).toEqual(names);
    expect(statSync(scopeDir).mode & 0o777).toBe(0o700);
    for (const kind of ['start', 'status', 'exit'] as const) {
      const node = statSync(join(scopeDir, `${kind}.reserved`), { bigint: true });
      const { dev, ino, nonce, nonceHash } = slots[kind];
      expect([dev, ino]).toEqual([String(node.dev), String(node.ino)]);
      expect([node.size, node.mode & 0o777n, node.nlink]).toEqual([4096n, 0o600n, 1n]);
      expect(node.blocks * 512n).toBeGreaterThanOrEqual(4096n);
      expect(nonce).toMatch(/^[0-9a-f]{32}$/);
      expect(nonceHash).toBe(createHash('sha256').update(nonce).digest('hex'));
    }
    expect(new Set([slots.start.nonce, slots.status.nonce, slots.exit.nonce]).size).toBe(3);
    expect(statSync(join(scopeDir, 'adopted.log')).size).toBe(16_384);
  });

  it('accepts a directory that is there already, and keeps what is in it', async () => {
    const scopeDir = workDirectory();
    writeFileSync(join(scopeDir, 'request'), 'kept');
    await reserveSlots(scopeDir);
    expect(readFileSync(join(scopeDir, 'request'), 'utf8')).toBe('kept');
  });

  it.each([0o000, 0o077, 0o777])('has the same modes under umask %o', async (umask) => {
    const parent = workDirectory();
    const before = process.umask(umask);
    onTestFinished(() => void process.umask(before));
    const scopeDir = join(parent, 'scope');
    await reserveSlots(scopeDir);
    process.umask(before);
    expect(statSync(scopeDir).mode & 0o777).toBe(0o700);
    for (const name of names) expect(statSync(join(scopeDir, name)).mode & 0o777).toBe(0o600);
  });
});

describe('when there is nothing to be had', () => {
  const refused = (errno: number) => ({ name: 'EvidenceUnavailableError', code: 'evidence_unavailable', errno });

  it('a missing parent is an error', async () => {
    await expect(reserveSlots(join(workDirectory(), 'a', 'b'))).rejects.toMatchObject(refused(2));
  });

  it.each(names)(
    'a second launch in the same directory (%s) is an error that removes nothing of the first',
    async (name) => {
      const scopeDir = workDirectory();
      await reserveSlots(scopeDir);
      for (const other of names.filter((one) => one !== name)) rmSync(join(scopeDir, other));
      await expect(reserveSlots(scopeDir)).rejects.toMatchObject(refused(17));
      expect(readdirSync(scopeDir)).toEqual([name]);
    },
  );

  it('a file in place of the directory stays', async () => {
    const path = join(workDirectory(), 'file');
    writeFileSync(path, 'kept');
    await expect(reserveSlots(path)).rejects.toMatchObject(refused(20));
    expect(readFileSync(path, 'utf8')).toBe('kept');
  });

  it('a dangling link in place of a slot is not followed', async () => {
    const directory = workDirectory();
    const scopeDir = join(directory, 'scope');
    mkdirSync(scopeDir);
    chmodSync(scopeDir, 0o700);
    symlinkSync(join(directory, 'elsewhere'), join(scopeDir, 'exit.reserved'));
    await expect(reserveSlots(scopeDir)).rejects.toMatchObject(refused(17));
    expect(existsSync(join(directory, 'elsewhere'))).toBe(false);
  });
});
