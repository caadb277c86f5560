/** What benchmarks measure with, and how they say it: one rank for all, so that their figures can be compared. */

/** In ms. On a busy machine the processor time is what can be compared; it leaves out the wait for the disk. */
export interface Timing {
  readonly wall: number;
  readonly cpu: number;
}

/** Of this process, and of `work` alone as long as nothing else happens in it. */
export async function timed(work: () => unknown): Promise<Timing> {
  const before = process.cpuUsage();
  const from = process.hrtime.bigint();
  await work();
  const wall = Number(process.hrtime.bigint() - from) / 1e6;
  const { user, system } = process.cpuUsage(before);
  return { wall, cpu: (user + system) / 1_000 };
}

/** Of n values in order the one at position ⌊n·at⌋ from 0, so the upper one of two in the middle. There has to be one. */
export const quantile = (values: readonly number[], at: number): number =>
  [...values].sort((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * at))]!;

export const median = (values: readonly number[]): number => quantile(values, 0.5);
