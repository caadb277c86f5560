import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Requests and answers, one line of JSON each, in strict order. A partner that dies fails whoever still waits. */
export class LineDialogue {
  readonly #child: ChildProcess;
  readonly #waiting: { resolve: (value: unknown) => void; reject: (error: Error) => void }[] = [];
  readonly #early: unknown[] = [];
  readonly closed: Promise<void>;

  constructor(child: ChildProcess) {
    this.#child = child;
    let complaint = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    createInterface({ input: child.stdout! }).on('line', (line) => this.#arrive(JSON.parse(line)));
    this.closed = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        const error = new Error(`helper ended (${code ?? signal}): ${complaint}`);
        for (const { reject } of this.#waiting.splice(0)) reject(error);
        resolve();
      });
    });
    child.stdin!.on('error', () => undefined);
  }

  next<T>(): Promise<T> {
    if (this.#early.length > 0) return Promise.resolve(this.#early.shift() as T);
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ resolve: resolve as (value: unknown) => void, reject });
    });
  }

  ask<T>(line: string): Promise<T> {
    this.#child.stdin!.write(`${line}\n`);
    return this.next<T>();
  }

  /** Ends the partner by closing its input. */
  async close(): Promise<void> {
    this.#child.stdin!.end();
    await this.closed;
  }

  #arrive(value: unknown): void {
    const first = this.#waiting.shift();
    if (first === undefined) this.#early.push(value);
    else first.resolve(value);
  }
}
