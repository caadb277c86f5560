import type { Socket } from 'node:net';
import { ControlError } from './controlError.ts';
import type { DrainEvent } from './controlMessages.ts';
import { drainEventSchema } from './controlMessages.ts';
import { onLines } from './lines.ts';
import { afterSilence } from './silence.ts';

type Waiter = (value: unknown) => void;

/** Answers come in the order of the requests; events of a drain may come in between and have a queue of their own. */
export class Channel {
  readonly #socket: Socket;
  readonly #timeoutMs: number;
  readonly #answers: Waiter[] = [];
  readonly #events: DrainEvent[] = [];
  #eventWaiter: (() => void) | undefined;
  #closed = false;

  constructor(socket: Socket, timeoutMs: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    onLines(socket, { line: (value) => this.#take(value), ended: () => this.#end() });
  }

  #take(value: unknown): void {
    const event = drainEventSchema.safeParse(value);
    if (!event.success) {
      this.#answers.shift()?.(value);
      return;
    }
    this.#events.push(event.data);
    this.#eventWaiter?.();
  }

  #end(): void {
    this.#closed = true;
    for (const waiter of this.#answers.splice(0)) waiter(undefined);
    this.#eventWaiter?.();
  }

  /** After a silence the order of answers is no longer known, so the connection is given up with it. */
  #unresponsive(what: string): ControlError {
    this.close();
    return new ControlError('unresponsive', `no ${what} within ${this.#timeoutMs} ms`);
  }

  send(line: string): void {
    if (this.#closed) throw new ControlError('control_closed', 'the connection to the guardian has ended');
    this.#socket.write(`${line}\n`);
  }

  ask(line: string): Promise<unknown> {
    this.send(line);
    return new Promise((resolve, reject) => {
      const callOff = afterSilence(this.#timeoutMs, () => reject(this.#unresponsive('answer')));
      this.#answers.push((value) => {
        callOff();
        if (value === undefined) reject(new ControlError('control_closed', 'the guardian closed the connection'));
        else resolve(value);
      });
    });
  }

  async nextEvent(withinMs: number): Promise<DrainEvent> {
    if (this.#events.length === 0 && !this.#closed) await this.#something(withinMs);
    const event = this.#events.shift();
    if (event !== undefined) return event;
    if (this.#closed) throw new ControlError('control_closed', 'the guardian closed the connection during a drain');
    throw this.#unresponsive('event of the drain');
  }

  #something(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = afterSilence(withinMs, resolve);
      this.#eventWaiter = () => {
        callOff();
        this.#eventWaiter = undefined;
        resolve();
      };
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}
