/**
 * The one stream of what was committed. It is opened after the fleet was read, at the position of that answer, and opened
 * again at the last position that was heard whenever it breaks. What cannot be resumed is read anew.
 */
import { batch, signal } from '@preact/signals';
import { type FleetAnswer, heartbeatMs, routes, type UpdateMessage } from '../../server/contract.ts';
import { events } from './eventStream.ts';
import { overview, replaceFleet, takeRows } from './fleet.ts';
import { access, ask, control, pathOf, ServerError } from './server.ts';

/** When this page last heard anything, wall ms; undefined while it hears what happens. What it shows then is of that moment. */
export const lostSince = signal<number | undefined>(undefined);

export type Connection = 'connecting' | 'live' | 'reconnecting' | 'left';
export const connection = signal<Connection>('connecting');
/** Newest position that was heard of. */
export const position = signal(0);
/** Counts the times that everything had to be read anew: a view that read more than the fleet does so too. */
export const reloads = signal(0);
export const loadError = signal<string | undefined>(undefined);
/** When each of the newest events was heard of, for the little picture of how busy it is: wall ms, oldest first. */
export const pulse = signal<readonly number[]>([]);

const firstPauseMs = 250;
const longestPauseMs = 5_000;
const pulseMs = 120_000;

let heardAt = Date.now();
const heard = (): void => {
  heardAt = Date.now();
};

let stop = new AbortController();
let wake = () => {};

/** Never settles while the page lives and is let in. */
export async function followUpdates(): Promise<void> {
  let pauseMs = firstPauseMs;
  let fresh = false;
  let isFirstTry = true;
  while (access.peek() === 'open') {
    try {
      if (!fresh) await readFleet();
      fresh = true;
      for await (const message of stream()) {
        pauseMs = firstPauseMs;
        isFirstTry = true;
        if (await take(message)) fresh = false;
      }
    } catch (error) {
      if (error instanceof ServerError && error.status !== 0) fresh = false;
      loadError.value = error instanceof Error ? error.message : String(error);
    }
    if (connection.peek() !== 'left') connection.value = 'reconnecting';
    // One that breaks is mended by the next try more often than not: nobody has to be alarmed before.
    if (!isFirstTry || connection.peek() === 'left') lostSince.value ??= heardAt;
    isFirstTry = false;
    await pause(pauseMs);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

/** Tries now instead of after the pause. */
export function retryNow(): void {
  stop.abort();
  wake();
}

function stream(): AsyncGenerator<UpdateMessage> {
  stop = new AbortController();
  const path = pathOf(routes.updates, {}, { after: position.peek() });
  return events<UpdateMessage>(path, { signal: stop.signal, silenceMs: 3 * heartbeatMs, onHeard: heard });
}

async function readFleet(): Promise<void> {
  const answer = await ask<FleetAnswer>(routes.fleet);
  performance.mark('custody:fleet-arrived');
  batch(() => {
    replaceFleet(answer);
    position.value = answer.position;
    control.value = answer.control;
    reloads.value += 1;
    loadError.value = undefined;
  });
}

/** True when the fleet has to be read anew. */
async function take(message: UpdateMessage): Promise<boolean> {
  if (message.type === 'hello') {
    connection.value = 'live';
    lostSince.value = undefined;
    control.value = message.control;
    loadError.value = undefined;
  } else if (message.type === 'committed') {
    performance.mark('custody:committed', { detail: message.position });
    takeRows(message.actors);
    beat(message.messages.length);
    position.value = Math.max(position.peek(), message.position);
  } else if (message.type === 'overview') {
    overview.value = message.overview;
  } else if (message.type === 'leaving') {
    connection.value = 'left';
    return true;
  } else {
    await readFleet();
  }
  return false;
}

function beat(count: number): void {
  const now = Date.now();
  const recent = pulse.peek().filter((at) => now - at < pulseMs);
  pulse.value = [...recent, ...Array.from({ length: Math.min(count, 1_000) }, () => now)];
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

addEventListener('online', () => wake());
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) wake();
});
