import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeFrame } from '../../../pty/launch/frame.ts';
import { reserveSlots } from '../../../pty/launch/slots.ts';
import { guardian, program } from './programs.ts';

export interface InnerScope {
  readonly directory: string;
  /** One word of a shell script: starts the guardian in the foreground, the gate open. */
  readonly command: string;
}

export interface InnerChanges {
  readonly graceMs?: number;
  readonly budgetMs?: number;
  readonly guardianPath?: string;
  readonly cgroup?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * A scope that any program inside the tree of the guardian in `up` can start, without a launcher of its own: the request
 * lies ready, and somebody who belongs to nobody hands it over (fixtures/byHand.c).
 */
export async function innerScope(
  directory: string,
  up: string,
  { argv, guardianPath = guardian(), env, ...bounds }: InnerChanges & { argv: readonly string[] },
): Promise<InnerScope> {
  const slots = await reserveSlots(directory);
  const frame = join(directory, 'frame');
  const request = {
    scopeId: 'SINNER',
    scopeDir: directory,
    installationId: 'I0123456789',
    slots,
    argv,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', ...env },
    cwd: '/',
    umask: 0o022,
    handshakeMs: 20_000,
    upSocketDir: up,
    graceMs: 50,
    budgetMs: 30_000,
    ...bounds,
  };
  writeFileSync(frame, encodeFrame(request));
  return { directory, command: `'${program('byHand')}' '${frame}' '${guardianPath}'` };
}
