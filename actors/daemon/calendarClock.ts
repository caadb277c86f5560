/** For short commands that open the store without a daemon: they date rows for people and compare no times. */
import type { Clock } from '../../persistence/clock.ts';

export const calendarClock: Clock = { now: () => ({ wallMs: Date.now(), monoMs: 0, bootId: 'no-daemon' }) };
