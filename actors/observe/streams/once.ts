import { lastValueFrom, of, toArray } from 'rxjs';
import { type LaneEvent, type ObservationLaneOptions, observations$ } from './observations.ts';

/** One pass of the lane and no more, for short invocations without a resident process (INT-11). Rejects with what the lane throws. */
export function observeOnce(options: Omit<ObservationLaneOptions, 'passes$'>): Promise<readonly LaneEvent[]> {
  return lastValueFrom(observations$({ ...options, passes$: of('once') }).pipe(toArray()));
}
