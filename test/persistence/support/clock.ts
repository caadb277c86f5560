import type { Clock } from '../../../persistence/clock.ts';

/** Every look is one millisecond later. */
export function tickingClock(): Clock {
  let monoMs = 1_000;
  return {
    now() {
      monoMs += 1;
      return { wallMs: 1_700_000_000_000 + monoMs, monoMs, bootId: '7d1c0c2e-0000-4000-8000-00000000b007' };
    },
  };
}
