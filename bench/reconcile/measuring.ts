/** What both halves of this benchmark measure with. */
import { createHost } from '../../actors/host/host.ts';
import { createLinuxAdapter } from '../../actors/observe/linux/adapter.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { createObserver } from '../../actors/reconcile/observer.ts';
import { type Note, noteSchema } from '../../machines/note.ts';
import { protocol } from '../../machines/protocol.ts';
import { openStore } from '../../persistence/store.ts';
import { median, type Timing } from '../timing.ts';

export const clock = createSystemClock();

/** Processes that are looked at together. */
export const batch = 64;

/** Of pairs that were measured one right after the other. */
export function ratios(above: readonly Timing[], below: readonly Timing[]) {
  const of = (clock: keyof Timing) => median(above.map((one, at) => one[clock] / below[at]![clock])).toFixed(2);
  return { wall: of('wall'), cpu: of('cpu') };
}

/** The whole of observe mode over a store of its own. */
export function observing(directory: string) {
  const store = openStore({ stateDir: `${directory}/state`, clock, create: true });
  const adapter = createLinuxAdapter({ installationId: store.installationId as never, pinLimit: 0 });
  const host = createHost({ ...protocol, store, clock });
  const pauses = { retryFirstMs: 1_000, retryLongestMs: 300_000, freshnessRowMs: 1_000 };
  const parts = { host, store, clock, adapter, spoolDir: `${directory}/spool`, batch, ...pauses };
  return { store, host, adapter, observer: createObserver(parts) };
}

export type Observing = ReturnType<typeof observing>;

export function noting(producer: string): (said: Record<string, unknown>) => Note {
  let seq = 0;
  return (said) => {
    seq += 1;
    return noteSchema.parse({ v: 1, producer, stream: 'a'.repeat(32), seq, at: clock.now(), ...said });
  };
}
