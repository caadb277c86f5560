/** Whose state it is. Root could open anybody's, and would leave files behind that their owner cannot (ruling 29). */
import { lstatSync } from 'node:fs';
import { OperatingError } from '../actors/runtime/operatingError.ts';
import { notInitialised } from './failure.ts';

/** Throws `store_missing`, or `store_permissions` when the directory is somebody else's or cannot be looked at. */
export function requireOwn(stateDir: string): void {
  const owner = ownerOf(stateDir);
  if (owner === undefined) throw notInitialised(stateDir);
  const user = process.getuid?.();
  if (owner === user) return;
  throw new OperatingError({
    code: 'store_permissions',
    message:
      owner === null
        ? `${stateDir} cannot be looked at`
        : `${stateDir} belongs to user ${owner}, and this is user ${user}`,
    exitCode: 9,
    next: ['run custody as the owner of the state directory, without sudo'],
  });
}

/** Undefined when there is nothing, null when that cannot be told. */
function ownerOf(path: string): number | null | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.uid;
  } catch {
    return null;
  }
}
