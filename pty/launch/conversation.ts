import type { Socket } from 'node:net';
import { z } from 'zod';
import { onLines } from './lines.ts';
import { afterSilence } from './silence.ts';

const processSchema = z.object({ pid: z.int(), start: z.string(), pidfs: z.string().nullable() });

const messageSchema = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('ready'),
    protocol: z.literal(1),
    guardian: processSchema,
    workload: processSchema,
    boot: z.string(),
    pidns: z.string(),
    timens: z.string(),
    uid: z.int(),
  }),
  z.object({ event: z.literal('refused'), step: z.string(), errno: z.int(), exit: z.int() }),
  z.object({ event: z.literal('released') }),
  z.object({ event: z.literal('execFailed'), errno: z.int() }),
  z.object({ event: z.literal('notReleased'), reason: z.string() }),
]);

export type LinkMessage = z.infer<typeof messageSchema>;
export type LinkProcess = z.infer<typeof processSchema>;

/** What came instead of a message. */
export type LinkSilence = { event: 'ended' } | { event: 'silent' } | { event: 'malformed' };

/**
 * The guardian's side of the link as a queue of messages. `next` answers within its bound, whatever the guardian does:
 * `silent` after `withinMs`, `ended` when the link is gone and everything that came over it has been taken.
 */
export class Conversation {
  readonly #queue: (LinkMessage | LinkSilence)[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  constructor(link: Socket) {
    onLines(link, {
      line: (value) => {
        const message = messageSchema.safeParse(value);
        this.#put(message.success ? message.data : { event: 'malformed' });
      },
      ended: () => {
        this.#ended = true;
        this.#wake?.();
      },
    });
  }

  #put(message: LinkMessage | LinkSilence): void {
    this.#queue.push(message);
    this.#wake?.();
  }

  async next(withinMs: number): Promise<LinkMessage | LinkSilence> {
    if (this.#queue.length === 0 && !this.#ended) await this.#something(withinMs);
    return this.#queue.shift() ?? { event: this.#ended ? 'ended' : 'silent' };
  }

  #something(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = afterSilence(withinMs, resolve);
      this.#wake = () => {
        callOff();
        resolve();
      };
    });
  }
}
