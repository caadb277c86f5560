/**
 * The two ends of one pseudo terminal. The master is read and written here; the slave is lent to the guardian and kept
 * open besides, so that the master never reads EIO while somebody may still open the terminal (PTY-07). After `close`
 * no call reaches the descriptors, which by then may be somebody else's.
 */
import { closeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { InputQueue } from './inputQueue.ts';
import { nodePty } from './nodePty.ts';

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export interface MasterOptions extends Size {
  readonly inputMaxBytes: number;
  /** Every chunk that was read, in order; the buffer belongs to the receiver. */
  readonly output: (chunk: Buffer) => void;
  /** No more can be read although nobody closed it here. */
  readonly broken: (error: NodeJS.ErrnoException | null) => void;
}

export class Master {
  readonly #fd: number;
  readonly #slave: number;
  readonly #stream: ReadStream;
  readonly #input: InputQueue;
  #size: Size;
  #isOpen = true;

  /** Throws node-pty's error when the system has no terminal left (openpty(3)). */
  constructor({ cols, rows, inputMaxBytes, output, broken }: MasterOptions) {
    const { master, slave } = nodePty.open(cols, rows);
    this.#fd = master;
    this.#slave = slave;
    this.#size = { cols, rows };
    this.#input = new InputQueue({ fd: master, maxBytes: inputMaxBytes });
    this.#stream = new ReadStream(master);
    this.#stream.on('data', (chunk: Buffer) => {
      output(chunk);
      this.#input.nudge();
    });
    this.#stream.on('error', (error) => this.#broke(error, broken));
    this.#stream.on('close', () => this.#broke(null, broken));
  }

  #broke(error: Error | null, report: MasterOptions['broken']): void {
    if (!this.#isOpen) return;
    this.close();
    report(error);
  }

  /** For the guardian's standard descriptors; stays ours to close. */
  get slave(): number {
    return this.#slave;
  }

  get size(): Size {
    return this.#size;
  }

  get pendingInputBytes(): number {
    return this.#input.bytes;
  }

  /** See InputQueue.write. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#input.write(bytes);
  }

  /** See InputQueue.type. */
  type(bytes: Uint8Array): Promise<void> {
    return this.#input.type(bytes);
  }

  /** See InputQueue.room. */
  inputRoom(below: number): Promise<void> {
    return this.#input.room(below);
  }

  /** The program is told by SIGWINCH, unless the size is the one it has. False when the terminal has ended. */
  resize(size: Size): boolean {
    if (!this.#isOpen) return false;
    nodePty.resize(this.#fd, size.cols, size.rows);
    this.#size = size;
    return true;
  }

  /** Hangs up: what still has the terminal gets SIGHUP from the kernel (tty_ioctl(4), TIOCSCTTY). */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#input.close();
    closeSync(this.#slave);
    this.#stream.destroy();
  }
}
