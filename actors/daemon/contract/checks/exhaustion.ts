/** No space for evidence: then nothing may run. */
import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { GuardianLaunchError } from '../../../../pty/launch/errors.ts';
import type { LaunchRequest } from '../../../../pty/launch/launch.ts';
import { type Bench, frameFor, launchedAs, shell, talkFor } from '../bench.ts';

/** Exit code of a guardian that has no space for its receipts. */
const noSlot = 73;

/** A disk that is full and a limit on the size of files refuse the same write; only the limit can be had without a disk. */
export async function exhausted(bench: Bench): Promise<string | null> {
  const full = { ...bench, directory: join(bench.directory, 'full') };
  const through = shell('ulimit -f 0; exec "$0" "$@"');
  const ofLimit = await refused(full, async () => ({ through }));
  if (ofLimit !== null) return `a receipt that cannot be written: ${ofLimit}`;
  const other = { ...bench, directory: join(bench.directory, 'other') };
  const ofOther = await refused(other, async () => {
    // As large and as private, but not the space that was reserved.
    const path = join(other.directory, 'exit.reserved');
    await copyFile(path, `${path}.copy`);
    await rename(`${path}.copy`, path);
    return {};
  });
  return ofOther === null ? null : `space that nobody reserved: ${ofOther}`;
}

async function refused(bench: Bench, spoil: () => Promise<Partial<LaunchRequest>>): Promise<string | null> {
  const talk = await talkFor(bench);
  const { theirs } = talk;
  const stdio = [theirs, theirs, theirs] as const;
  const frame = await frameFor(bench, shell('echo ran'));
  try {
    const changes = await spoil();
    const launch = await launchedAs(bench, { ...frame, guardianPath: bench.guardianPath, stdio, ...changes });
    await launch.abandon();
    return 'it was launched';
  } catch (error) {
    if (!(error instanceof GuardianLaunchError) || error.exitCode !== noSlot) throw error;
  } finally {
    talk.handedOver();
  }
  const ran = await Promise.race([talk.heard('ran').catch(() => undefined), talk.ended]);
  return ran === undefined ? null : 'it ran';
}
