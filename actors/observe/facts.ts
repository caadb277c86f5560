import type { Payload } from '../../machines/events/catalogue.ts';
import type { ProcessIdentity } from '../../machines/identity.ts';
import type { Sample } from './sample.ts';

/** Payload of `process.observed`: one look at the recorded process of a run, made under `basisVersion` of its actor. */
export function processFacts(
  identity: ProcessIdentity,
  sample: Sample,
  basisVersion: number,
): Payload<'process.observed'> {
  const { result, reason, sampledAt, contextDigest } = sample;
  // Everything but an unknown was confirmed by a second look or by a descriptor that names one process.
  return { result, reason, stable: result !== 'unknown', identity, basisVersion, sampledAt, contextDigest };
}

/** Payload of `guardian.observed`. However a guardian came to an end, what matters to its scope is that it is not there. */
export function guardianFacts(sample: Sample): Payload<'guardian.observed'> {
  const { result, reason, sampledAt, contextDigest } = sample;
  return { result: result === 'ended' ? 'absent' : result, reason, contextDigest, sampledAt };
}
