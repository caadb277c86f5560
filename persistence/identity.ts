/**
 * Who this store is, how often it was started, and whether it is the file that we left behind.
 *
 * A restored backup remembers less than the world does: an effect that it shows as pending may have been executed since.
 * So a restored store begins a new *epoch*, and effects of another epoch or an earlier start are looked into, never
 * offered again (ruling 29). Three signs tell a restored file: the mark that `backup` leaves in its copy, another inode
 * (copied or unpacked), and the token beside the file, which is renewed at every start that writes, so that an older copy
 * put over the same inode carries a stale one. A false alarm (a token lost in a power failure) costs a look, no more.
 * Device numbers are left out: some file systems number themselves anew at every mount.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { mappingStoreErrors, StoreError } from './errors.ts';
import type { MetaTable } from './tables/meta.ts';

export type Restored = 'backup' | 'moved' | 'older_copy';

export interface StoreIdentity {
  readonly installationId: string;
  readonly nodeId: string;
  readonly epoch: number;
  /** Number of this start among those that wrote anything; positive, increasing within an epoch. */
  readonly startNumber: number;
  /** Why this start begins a new epoch, when it does. */
  readonly restored: Restored | undefined;
  /** Writes epoch and start number; belongs into the first write transaction of a start. */
  record(): void;
  /** Renews the token beside the file; belongs after that transaction's commit. */
  recorded(): void;
}

export const backupMark = 'store.backup';
const tokens = 'store.tokens';

/** Fills a new database. `inode` is that of the file under its final name. */
export function foundStore(meta: MetaTable, inode: string): string {
  const token = newToken();
  meta.set('store.installationId', newId('I'));
  meta.set('store.nodeId', newId('N'));
  meta.set('store.epoch', '1');
  meta.set('store.starts', '0');
  meta.set('store.inode', inode);
  meta.set(tokens, token);
  return token;
}

export function readIdentity(meta: MetaTable, files: { database: string; token: string }): StoreIdentity {
  const restored = restoredSign(meta, files);
  const epoch = count(meta, 'store.epoch') + (restored ? 1 : 0);
  const startNumber = count(meta, 'store.starts') + 1;
  const token = newToken();
  return {
    installationId: text(meta, 'store.installationId'),
    nodeId: text(meta, 'store.nodeId'),
    epoch,
    startNumber,
    restored,
    record() {
      meta.set('store.epoch', String(epoch));
      meta.set('store.starts', String(startNumber));
      meta.set('store.inode', inodeOf(files.database));
      // The previous token stays valid: a crash may fall between this commit and the new token file.
      meta.set(tokens, [token, ...text(meta, tokens).split(' ').slice(0, 1)].join(' '));
      meta.remove(backupMark);
    },
    recorded() {
      try {
        writeToken(files.token, token);
      } catch {
        // The commit stands whatever becomes of the token; without it the next start looks before it acts.
      }
    },
  };
}

function restoredSign(meta: MetaTable, files: { database: string; token: string }): Restored | undefined {
  if (meta.get(backupMark) !== undefined) return 'backup';
  if (text(meta, 'store.inode') !== inodeOf(files.database)) return 'moved';
  return text(meta, tokens).split(' ').includes(readToken(files.token)) ? undefined : 'older_copy';
}

/** Decimal, because inode numbers may exceed what a double can hold. */
export function inodeOf(path: string): string {
  return mappingStoreErrors(() => String(statSync(path, { bigint: true }).ino));
}

/** Replaces the token file in one step. Not synced: losing it costs a new epoch, nothing else. */
export function writeToken(path: string, token: string): void {
  mappingStoreErrors(() => {
    writeFileSync(`${path}.new`, `${token}\n`, { mode: 0o600 });
    chmodSync(`${path}.new`, 0o600);
    renameSync(`${path}.new`, path);
  });
}

function readToken(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return 'absent';
  }
}

function text(meta: MetaTable, name: string): string {
  const value = meta.get(name);
  if (value === undefined) throw new StoreError('store_corrupt', `the store has lost its ${name}`);
  return value;
}

function count(meta: MetaTable, name: string): number {
  const value = Number(text(meta, name));
  if (!Number.isSafeInteger(value)) throw new StoreError('store_corrupt', `the store has a damaged ${name}`);
  return value;
}

const newToken = (): string => randomBytes(16).toString('hex');

/** A letter and ten characters of lowercase Crockford base32. */
function newId(letter: 'I' | 'N'): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  return letter + Array.from(randomBytes(10), (byte) => alphabet[byte & 31]).join('');
}
