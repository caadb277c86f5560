/**
 * Receipt space that is reserved and synced before anybody asks for it: a launch takes a prepared directory by renaming it,
 * which moves no inode, and the next one is prepared while nobody waits. A spare that a crash leaves over is empty space
 * and is removed at the next start; one that holds something is evidence of a launch, and never is.
 */
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ReservedSlots, reserveSlots, syncDirectory } from '../../../pty/launch/slots.ts';

const spareName = /^\.spare-\d+$/;
/** What a directory holds whose launch never began. */
const reservedNames: ReadonlySet<string> = new Set([
  'start.reserved',
  'status.reserved',
  'exit.reserved',
  'adopted.log',
]);

/** What is on record about scopes. */
export interface Records {
  isKnown(scopeId: string): boolean;
  /** The scope that recorded one of these files as its own. */
  ownerOf(stray: Stray): string | undefined;
}

interface Spare {
  readonly directory: string;
  readonly slots: ReservedSlots;
}

export interface Taken {
  readonly slots: ReservedSlots;
  /** Resolves when a power loss leaves the directory under the name of its scope; nothing may be released before. */
  readonly named: Promise<void>;
}

/** A spare in which something was written: a launch took it, and its new name was lost with the power. */
export interface Stray {
  /** Absolute. */
  readonly directory: string;
  /** Of its files: what a launch recorded about them tells whose they are. */
  readonly inodes: readonly { readonly dev: string; readonly ino: string }[];
  readonly isEmpty: boolean;
}

export class SlotPool {
  readonly #scopesDir: string;
  readonly #size: number;
  readonly #spares: Spare[] = [];
  #made = 0;
  #filling: Promise<void> | undefined;

  constructor(scopesDir: string, size = 2) {
    this.#scopesDir = scopesDir;
    this.#size = size;
  }

  /** Reserved space in the directory of this scope. Throws EvidenceUnavailableError: then there must be no launch. */
  async take(scopeId: string): Promise<Taken> {
    const directory = join(this.#scopesDir, scopeId);
    await removeUnclaimed(directory);
    const spare = this.#spares.pop();
    if (spare === undefined) return { slots: await reserveSlots(directory), named: Promise.resolve() };
    await rename(spare.directory, directory);
    const named = syncDirectory(this.#scopesDir);
    // Whoever took it hears of a failure where it waits, and may have given up before.
    named.catch(() => undefined);
    return { slots: spare.slots, named };
  }

  /** For a launch that was refused before it was recorded. */
  async giveBack(scopeId: string): Promise<void> {
    await removeUnclaimed(join(this.#scopesDir, scopeId));
  }

  /** Prepares spares until there are enough. A full disk is no failure here: the next launch will say so. */
  fill(): Promise<void> {
    this.#filling ??= this.#prepare().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  /**
   * Removes directories of launches that were never recorded, and the spares of a former daemon, except those that `ownerOf`
   * knows: they get the name of their scope. Returns the spares that hold something and are nobody's; they stay.
   */
  async sweep({ isKnown, ownerOf }: Records): Promise<readonly Stray[]> {
    const left: Stray[] = [];
    for (const name of await readdir(this.#scopesDir)) {
      const directory = join(this.#scopesDir, name);
      if (!spareName.test(name)) {
        if (!isKnown(name)) await removeUnclaimed(directory);
        continue;
      }
      const stray = await strayAt(directory);
      const owner = ownerOf(stray);
      if (owner !== undefined && (await this.#rename(directory, owner))) continue;
      if (stray.isEmpty) await removeUnclaimed(directory);
      else left.push(stray);
      this.#made = Math.max(this.#made, Number(name.slice('.spare-'.length)));
    }
    return left;
  }

  /** False when the scope has a directory of that name already. */
  async #rename(directory: string, scopeId: string): Promise<boolean> {
    try {
      await rename(directory, join(this.#scopesDir, scopeId));
    } catch {
      return false;
    }
    await syncDirectory(this.#scopesDir);
    return true;
  }

  /** Waits for a spare in the making and removes them all. */
  async close(): Promise<void> {
    await this.#filling;
    for (const { directory } of this.#spares.splice(0)) await rm(directory, { recursive: true, force: true });
  }

  async #prepare(): Promise<void> {
    while (this.#spares.length < this.#size) {
      this.#made += 1;
      const directory = join(this.#scopesDir, `.spare-${this.#made}`);
      try {
        this.#spares.push({ directory, slots: await reserveSlots(directory) });
      } catch {
        return;
      }
    }
  }
}

async function strayAt(directory: string): Promise<Stray> {
  const names = await readdir(directory).catch(() => []);
  const inodes = await Promise.all(
    names.map(async (name) => {
      const { dev, ino } = await lstat(join(directory, name), { bigint: true });
      return { dev: String(dev), ino: String(ino) };
    }),
  );
  return { directory, inodes, isEmpty: names.every((name) => reservedNames.has(name)) };
}

/** Removes a scope directory that holds nothing but empty slots; one with a receipt or output in it stays. */
async function removeUnclaimed(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => undefined);
  if (names === undefined || !names.every((name) => reservedNames.has(name))) return;
  await rm(directory, { recursive: true, force: true });
}
