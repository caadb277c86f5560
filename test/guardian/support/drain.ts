import type { DrainEvent } from '../../../pty/launch/controlMessages.ts';
import type { Scope } from './scope.ts';

/** Asks once for the end of a scope, and hears it out. */
export async function terminated(
  scope: Scope,
  bounds: { readonly graceMs: number; readonly budgetMs: number },
): Promise<DrainEvent[]> {
  const control = await scope.control();
  const events: DrainEvent[] = [];
  for await (const event of control.terminate(bounds)) events.push(event);
  control.close();
  return events;
}

export const names = (events: readonly DrainEvent[]) => events.map(({ event }) => event);

export const find = <E extends DrainEvent['event']>(events: readonly DrainEvent[], event: E) =>
  events.find((one): one is Extract<DrainEvent, { event: E }> => one.event === event)!;
