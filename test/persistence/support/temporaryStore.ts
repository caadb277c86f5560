import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openStore, type Store, type StoreOptions } from '../../../persistence/store.ts';
import { tickingClock } from './clock.ts';

/** A directory that goes away with its test. The name has a space and a letter outside ASCII, as homes do. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'custody stör '));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export const stateDirIn = (directory: string): string => join(directory, 'state');

/** Opens a store and closes it with the test; closing twice is allowed to tests. */
export function opened(options: Partial<StoreOptions> & { readonly stateDir: string }): Store {
  const store = openStore({ clock: tickingClock(), create: true, ...options });
  onTestFinished(() => store.close());
  return store;
}

export const newStore = (options: Partial<StoreOptions> = {}): Store =>
  opened({ stateDir: stateDirIn(temporaryDirectory()), ...options });
