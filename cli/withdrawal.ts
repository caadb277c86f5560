/** When a daemon that was told to leave is gone. */
import { type Places, readRendezvous } from '../actors/runtime/places.ts';

const lookAgainAfterMs = 10;
/** One that was killed while it left withdraws nothing; its successor finds that out. */
const longestMs = 5_000;

/** Resolves when what the daemon of this start announced is withdrawn or replaced, at the latest after five seconds. */
export async function withdrawn(places: Places, startNumber: number): Promise<void> {
  const deadline = performance.now() + longestMs;
  while (readRendezvous(places)?.startNumber === startNumber && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, lookAgainAfterMs));
  }
}
