import { closeSync, constants, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createConnection } from 'node:net';
import type { ZodType } from 'zod';
import { Channel } from './channel.ts';
import { ControlError } from './controlError.ts';
import type { DrainEvent, Hello, Members } from './controlMessages.ts';
import { answerSchema, helloSchema, membersSchema } from './controlMessages.ts';
import { afterSilence } from './silence.ts';

export interface ControlClient {
  hello(): Promise<Hello>;
  /** The descendants now, at most 256 of them named; `total` is exact. */
  members(): Promise<Members>;
  /**
   * Begins a bounded termination, or joins the one in progress, and yields its events up to `settled` or
   * `budgetExhausted`. SIGTERM at once, then `graceMs` to leave, then at most `budgetMs` for stop, kill and reap.
   */
  terminate(bounds: { graceMs: number; budgetMs: number }): AsyncIterable<DrainEvent>;
  close(): void;
}

export interface ControlOptions {
  /** How long one answer may take before the guardian counts as unresponsive. */
  readonly timeoutMs?: number;
}

/** Resolves with the connected socket. Goes through /proc/self/fd because a socket path holds only 108 bytes. */
function connect(scopeDir: string, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let directory: number;
    try {
      directory = openSync(scopeDir, constants.O_RDONLY | constants.O_DIRECTORY);
    } catch (error) {
      reject(new ControlError('guardian_unreachable', 'the scope directory cannot be opened', error));
      return;
    }
    const socket = createConnection({ path: `/proc/self/fd/${directory}/ctl.sock` });
    const finish = (error?: ControlError) => {
      callOff();
      closeSync(directory);
      socket.removeAllListeners();
      if (error === undefined) return resolve(socket);
      socket.on('error', () => undefined).destroy();
      reject(error);
    };
    const callOff = afterSilence(timeoutMs, () => finish(new ControlError('unresponsive', 'no connection in time')));
    socket.once('connect', () => finish());
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const full = error.code === 'EAGAIN'; // a backlog that nobody empties
      finish(new ControlError(full ? 'unresponsive' : 'guardian_unreachable', 'the guardian cannot be reached', error));
    });
  });
}

/** Each event has the drain's own bounds to come in, and the answer time on top. */
async function* drainEvents(
  channel: Channel,
  bounds: { graceMs: number; budgetMs: number; timeoutMs: number },
): AsyncGenerator<DrainEvent> {
  channel.send(`terminate ${bounds.graceMs} ${bounds.budgetMs}`);
  for (let first = true; ; first = false) {
    const bound = first ? bounds.timeoutMs : bounds.graceMs + bounds.budgetMs + bounds.timeoutMs;
    const event = await channel.nextEvent(bound);
    yield event;
    if (event.event === 'settled' || event.event === 'budgetExhausted') return;
  }
}

/** A workload can put its own socket in the guardian's place: what answers there nonsense is no guardian, and no bug. */
function understood<T>(schema: ZodType<T>, value: unknown): T {
  const answer = schema.safeParse(value);
  if (answer.success) return answer.data;
  throw new ControlError('control_refused', 'the answer is not that of a guardian', answer.error);
}

/**
 * Connects to the guardian of a scope, whatever the length of the path. Throws ControlError; neither silence nor
 * absence is evidence about the workload.
 */
export async function controlClient(scopeDir: string, options: ControlOptions = {}): Promise<ControlClient> {
  const timeoutMs = options.timeoutMs ?? 2000;
  const channel = new Channel(await connect(scopeDir, timeoutMs), timeoutMs);
  const ask = async (line: string) => {
    const value = await channel.ask(line);
    const refused = answerSchema.safeParse(value);
    if (refused.success) throw new ControlError('control_refused', `the guardian answered ${refused.data.error}`);
    return value;
  };
  return {
    hello: async () => understood(helloSchema, await ask('hello 1')),
    members: async () => understood(membersSchema, await ask('members')),
    terminate: (bounds) => drainEvents(channel, { ...bounds, timeoutMs }),
    close: () => channel.close(),
  };
}
