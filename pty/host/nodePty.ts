/** Only `open` and `resize` of node-pty: its spawn has a thread per terminal, and closes what it should drain. */
import { createRequire } from 'node:module';

interface NodePty {
  /** Both ends of a new terminal as descriptors, and the path of the slave. Throws when the system has none left. */
  open(cols: number, rows: number): { master: number; slave: number; pty: string };
  resize(fd: number, cols: number, rows: number): void;
}

export const { native: nodePty } = createRequire(import.meta.url)('node-pty') as { native: NodePty };
