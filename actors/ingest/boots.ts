/**
 * Whether a moment in another boot lies in an earlier one of this machine. A boot id alone does not tell: notes of another
 * machine have one as well, and what runs there did not end with a boot of this one. An earlier boot was over before this
 * one began.
 */
import type { Clock } from '../observe/clock.ts';

export type BootClock = Pick<Clock, 'bootId' | 'boottimeMs' | 'now'>;

export interface Dated {
  readonly bootId: string;
  readonly wallMs: number;
}

export const isOfThisMachine = (clock: BootClock, { bootId, wallMs }: Dated): boolean =>
  bootId === clock.bootId() || wallMs < clock.now().wallMs - clock.boottimeMs();
