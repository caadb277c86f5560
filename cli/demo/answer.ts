/** Answers the agent's questions, each through the named pipe at which it waits (fifo(7)). */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scratch } from './scratch.ts';

/**
 * Writes the answer and holds the pipe until `then` is done: opened for both directions it blocks nobody, and what is in
 * it stays until the agent has opened its end.
 */
export async function answer<T>(scratch: Scratch, question: string, then: () => Promise<T>): Promise<T> {
  const pipe = await open(join(scratch.desk, question), constants.O_RDWR | constants.O_NONBLOCK);
  try {
    await pipe.write('yes\n');
    return await then();
  } finally {
    await pipe.close();
  }
}
