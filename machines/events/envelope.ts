/** The frame of every event (section E, JRN-03): who, about whom, on what basis, when, and a bounded payload. */
import { z } from 'zod';
import { basisSchema } from '../basis.ts';
import { bootIdSchema } from '../identity.ts';
import { actorKinds } from '../ids.ts';

export const envelopeSchema = z.strictObject({
  schemaVersion: z.literal(1),
  eventId: z.string().min(1).max(256),
  type: z.string().regex(/^[a-z][A-Za-z]*(\.[a-z][A-Za-z]*)+$/),
  actor: z.strictObject({ kind: z.enum(actorKinds), id: z.string().min(1).max(64) }),
  producer: z.strictObject({ kind: z.string().min(1).max(64), id: z.string().min(1).max(128) }),
  expectedVersion: z.int().min(0).optional(),
  basis: basisSchema.optional(),
  causationId: z.string().max(256).optional(),
  /** Wall time is for display only (TIME-01). */
  at: z.strictObject({ wallMs: z.int(), monoMs: z.int().min(0), bootId: bootIdSchema }),
  payload: z.record(z.string(), z.unknown()),
});
export type Envelope = z.infer<typeof envelopeSchema>;

/** What a machine receives: payload fields side by side with type, event id and, where there is one, the basis. */
export interface MachineEvent {
  readonly type: string;
  readonly eventId: string;
  readonly [field: string]: unknown;
}

export function machineEvent(envelope: Pick<Envelope, 'type' | 'eventId' | 'payload' | 'basis'>): MachineEvent {
  const { type, eventId, payload, basis } = envelope;
  return basis === undefined ? { ...payload, type, eventId } : { ...payload, basis, type, eventId };
}
