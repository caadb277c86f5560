/**
 * Which file systems may hold the store (ruling 26, JRN-07). SQLite's WAL needs working locks and shared memory, and an
 * acknowledgement needs fsync to mean something, so this is an allow-list: an unknown type is refused.
 */
import { statfsSync } from 'node:fs';
import { StoreError, storeErrorOf } from './errors.ts';

/** Something that the user should know and that does not stop the store. */
export interface StoreWarning {
  readonly code:
    | 'filesystem_overlay'
    | 'filesystem_copy_on_write'
    | 'permissions_repaired'
    | 'store_restored'
    | 'store_log_torn';
  readonly message: string;
}

/** Magic numbers of statfs(2). */
const allowed: ReadonlyMap<number, { readonly name: string; readonly warning?: StoreWarning['code'] }> = new Map([
  [0xef53, { name: 'ext' }],
  [0x58465342, { name: 'xfs' }],
  [0x9123683e, { name: 'btrfs', warning: 'filesystem_copy_on_write' }],
  [0x2fc12fc1, { name: 'zfs', warning: 'filesystem_copy_on_write' }],
  [0xf2f52010, { name: 'f2fs' }],
  [0x01021994, { name: 'tmpfs' }],
  [0x794c7630, { name: 'overlay', warning: 'filesystem_overlay' }],
]);

/** Only for messages: what people meet most often among the refused. */
const refused: ReadonlyMap<number, string> = new Map([
  [0x6969, 'nfs'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb'],
  [0x65735546, 'fuse'],
  [0x01021997, '9p'],
  [0x6a656a63, 'virtiofs'],
]);

const explanations: Partial<Record<StoreWarning['code'], string>> = {
  filesystem_overlay: 'an overlay keeps the state only as long as its upper layer: in a container, mount a volume',
  filesystem_copy_on_write: 'on a copy-on-write file system reserved receipt space is best effort',
};

/**
 * Checks the file system that holds `directory`. `fakeType` stands in for the kernel's answer in tests.
 * @returns the name of the type and what to warn about; throws StoreError `store_filesystem` for any other type.
 */
export function checkFilesystem(directory: string, fakeType?: number): { name: string; warnings: StoreWarning[] } {
  const type = (fakeType ?? kernelType(directory)) >>> 0;
  const found = allowed.get(type);
  if (found === undefined) {
    const name = refused.get(type) ?? `of unknown type 0x${type.toString(16)}`;
    throw new StoreError('store_filesystem', `the state directory is on a file system ${name}, which is not supported`);
  }
  const { name, warning } = found;
  return { name, warnings: warning ? [{ code: warning, message: `${name}: ${explanations[warning]}` }] : [] };
}

function kernelType(directory: string): number {
  try {
    return statfsSync(directory).type;
  } catch (thrown) {
    throw (
      storeErrorOf(thrown) ??
      new StoreError('store_io', 'the file system of the state directory cannot be examined', thrown)
    );
  }
}
