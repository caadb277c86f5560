/**
 * A moment as every envelope carries it. Monotonic milliseconds mean something only together with the boot id that they
 * were read under (TIME-01); wall time is for people.
 */
export interface Moment {
  readonly wallMs: number;
  readonly monoMs: number;
  readonly bootId: string;
}

/** Time is input: whoever wires the program chooses the clock, tests choose a fake one. */
export interface Clock {
  now(): Moment;
}
