/** What a start finds in the scopes directory under a name that is no scope's: given back to its scope, or shown. */
import { basename } from 'node:path';
import { everyActor } from '../../runtime/actorAccess.ts';
import type { DaemonContext } from '../context.ts';
import type { Stray } from './slotPool.ts';

type Parts = Pick<DaemonContext, 'host' | 'store' | 'slotPool' | 'findings' | 'log'>;

export async function sweepScopes({ host, store, slotPool, findings, log }: Parts): Promise<void> {
  const strays = await slotPool.sweep({
    isKnown: (scopeId) => store.actors.keyOf({ kind: 'executionScope', id: scopeId }) !== undefined,
    ownerOf: (stray) => ownerOf(host, stray),
  });
  for (const { directory } of strays) {
    log.warn({ directory }, 'a spare directory holds something that no scope is known for');
    const detail = `${directory} holds output or receipts that belong to no recorded scope; it is kept`;
    findings.add({ scopeId: basename(directory), code: 'stray_output', detail });
  }
}

/**
 * A launch records device and inode of its slots before it begins (ruling 8). Every crash leaves spares that hold nothing,
 * so those are looked for only among the scopes that still wait for something.
 */
function ownerOf(host: Parts['host'], { inodes, isEmpty }: Stray): string | undefined {
  const found = new Set(inodes.map(({ dev, ino }) => `${dev} ${ino}`));
  if (found.size === 0) return undefined;
  for (const released of isEmpty ? [false] : [false, true]) {
    for (const { id, snapshot } of everyActor(host, 'executionScope', { released })) {
      if (snapshot === 'corrupt' || snapshot.context.slots === null) continue;
      const { start, status, exit } = snapshot.context.slots;
      if ([start, status, exit].some(({ dev, ino }) => found.has(`${dev} ${ino}`))) return id;
    }
  }
  return undefined;
}
