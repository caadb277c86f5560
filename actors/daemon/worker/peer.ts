/**
 * Which process opened a connection (unix(7), SO_PEERCRED). Node cannot ask the kernel, so the guardian's executable does,
 * with the socket itself as its descriptor 3 (ruling 18). On 3, because what is inherited on 0 to 2 is made to block, and
 * that flag would be shared with this process's own end.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const peerSchema = z.object({
  uid: z.int().min(0),
  process: z.object({ pid: z.int().positive(), start: z.string(), pidfs: z.string().nullable() }),
});
export type Peer = z.infer<typeof peerSchema>;

/** The socket has to be open and paused. Undefined where the kernel names nobody: the process is gone, or never was one. */
export async function peerOf(socket: Socket, guardianPath: string): Promise<Peer | undefined> {
  const child = spawn(guardianPath, ['peer'], { cwd: '/', env: {}, stdio: ['ignore', 'pipe', 'ignore', socket] });
  const ended = once(child, 'close');
  try {
    const [said] = await Promise.all([text(child.stdout!), ended]);
    return peerSchema.parse(JSON.parse(said));
  } catch {
    return undefined;
  }
}
