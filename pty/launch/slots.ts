import { createHash, randomBytes } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { chmod, mkdir, open, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EvidenceUnavailableError } from './errors.ts';

/** A reserved file: which one it is (decimal strings), and the secret that its receipt will carry. */
export interface Slot {
  readonly dev: string;
  readonly ino: string;
  readonly nonce: string;
  /** SHA-256 of the nonce as text, in hex: what may be recorded before the receipt exists. */
  readonly nonceHash: string;
}

export interface ReservedSlots {
  readonly start: Slot;
  readonly status: Slot;
  readonly exit: Slot;
  /** The log of adopted children; it proves nothing by itself and has no nonce. */
  readonly adopted: { readonly dev: string; readonly ino: string };
}

const receiptBytes = 4096;
const adoptedBytes = 16_384;

const files = {
  start: { name: 'start.reserved', fill: Buffer.alloc(receiptBytes) },
  status: { name: 'status.reserved', fill: Buffer.alloc(receiptBytes) },
  exit: { name: 'exit.reserved', fill: Buffer.alloc(receiptBytes) },
  adopted: { name: 'adopted.log', fill: Buffer.alloc(adoptedBytes, '\n') },
} as const;

type SlotName = keyof typeof files;

/** Written and synced, not just extended: only allocated blocks can be overwritten on a full disk. */
async function reserveFile(path: string, fill: Buffer): Promise<{ dev: string; ino: string }> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(fill);
    await file.sync();
    const { dev, ino } = await file.stat({ bigint: true });
    return { dev: String(dev), ino: String(ino) };
  } finally {
    await file.close();
  }
}

/** What was made or renamed in it survives a power loss from now on (fsync(2)). */
export async function syncDirectory(path: string): Promise<void> {
  const directory: FileHandle = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** True when this call made the directory. The mode is set once more, because an umask takes bits away from mkdir. */
async function makePrivateDirectory(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    await chmod(path, 0o700);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function reserveAll(scopeDir: string, made: string[]): Promise<ReservedSlots> {
  const reserve = async (name: SlotName) => {
    const path = join(scopeDir, files[name].name);
    const identity = await reserveFile(path, files[name].fill).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') made.push(path);
      throw error;
    });
    made.push(path);
    return identity;
  };
  const names: SlotName[] = ['start', 'status', 'exit', 'adopted'];
  const settled = await Promise.allSettled(names.map(reserve));
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  const [start, status, exit, adopted] = settled.map((one) => (one as PromiseFulfilledResult<Slot>).value);
  return { start: withNonce(start!), status: withNonce(status!), exit: withNonce(exit!), adopted: adopted! };
}

function withNonce(identity: { dev: string; ino: string }): Slot {
  const nonce = randomBytes(16).toString('hex');
  return { ...identity, nonce, nonceHash: createHash('sha256').update(nonce).digest('hex') };
}

/**
 * Reserves the receipt space of one launch in `scopeDir` (made 0700 if it is missing; its parent must exist) and syncs
 * it. A scope directory serves one launch: existing slots are an error. Throws EvidenceUnavailableError with the
 * kernel's reason and removes what it had made.
 */
export async function reserveSlots(scopeDir: string): Promise<ReservedSlots> {
  const made: string[] = [];
  let madeDirectory = false;
  try {
    madeDirectory = await makePrivateDirectory(scopeDir);
    const slots = await reserveAll(scopeDir, made);
    await syncDirectory(scopeDir);
    if (madeDirectory) await syncDirectory(dirname(scopeDir));
    return slots;
  } catch (error) {
    for (const path of made) await unlink(path).catch(() => undefined);
    if (madeDirectory) await rmdir(scopeDir).catch(() => undefined);
    throw new EvidenceUnavailableError(error);
  }
}
