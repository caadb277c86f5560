/**
 * Receipt space that is reserved and synced before anybody asks for it: a launch takes a prepared directory by renaming it,
 * which moves no inode, and the next one is prepared while nobody waits. A spare that a crash leaves over is empty space
 * and is removed at the next start.
 */
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ReservedSlots, reserveSlots } from '../../../pty/launch/slots.ts';

const spareName = /^\.spare-\d+$/;
/** What a directory holds whose launch never began. */
const reservedNames: ReadonlySet<string> = new Set([
  'start.reserved',
  'status.reserved',
  'exit.reserved',
  'adopted.log',
]);

interface Spare {
  readonly directory: string;
  readonly slots: ReservedSlots;
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
  async take(scopeId: string): Promise<ReservedSlots> {
    const directory = join(this.#scopesDir, scopeId);
    await removeUnclaimed(directory);
    const spare = this.#spares.pop();
    if (spare === undefined) return reserveSlots(directory);
    await rename(spare.directory, directory);
    return spare.slots;
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

  /** Removes the spares of a former daemon, and directories of launches that were never recorded. */
  async sweep(isKnown: (scopeId: string) => boolean): Promise<void> {
    for (const name of await readdir(this.#scopesDir)) {
      if (spareName.test(name)) await rm(join(this.#scopesDir, name), { recursive: true, force: true });
      else if (!isKnown(name)) await removeUnclaimed(join(this.#scopesDir, name));
    }
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

/** Removes a scope directory that holds nothing but empty slots; one with a receipt or output in it stays. */
async function removeUnclaimed(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => undefined);
  if (names === undefined || !names.every((name) => reservedNames.has(name))) return;
  await rm(directory, { recursive: true, force: true });
}
