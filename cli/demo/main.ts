/** The demonstration behind `custody demo`. */
import { OperatingError } from '../../actors/daemon/operatingError.ts';

export interface DemoOptions {
  /** A repository to clone into the scratch directory; without it a small one is made. */
  readonly repo?: string;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
}

/** Returns the exit status. */
export function runDemo(_options: DemoOptions): Promise<number> {
  return Promise.reject(
    new OperatingError({
      code: 'not_available',
      message: 'the demonstration is not part of this build',
      exitCode: 8,
      next: ['custody help'],
    }),
  );
}
