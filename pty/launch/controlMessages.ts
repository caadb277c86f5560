/** What a guardian says on its control socket. Unknown fields of a newer guardian are dropped, not refused. */
import { z } from 'zod';

const processSchema = z.object({ pid: z.int(), start: z.string(), pidfs: z.string().nullable() });

export const helloSchema = z.object({
  protocol: z.int(),
  scope: z.string(),
  guardian: processSchema,
  workload: processSchema,
  /** `lingering`: the receipts are complete, and the terminal is held until its output has been read. */
  phase: z.enum(['gated', 'running', 'rootEnded', 'draining', 'lingering']),
  terminating: z.boolean(),
  /** Whether the workload has a cgroup of its own; an older guardian makes none. */
  cgroup: z.boolean().default(false),
});

export const membersSchema = z.object({
  members: z.array(z.object({ pid: z.int(), start: z.string(), ppid: z.int(), state: z.string() })),
  total: z.int(),
  nested: z.array(z.int()),
  /** False when the walk could not see everything; then the list is no complete answer. */
  complete: z.boolean(),
});

/** pid and start ticks. */
const memberPair = z.tuple([z.int(), z.string()]);

export const drainEventSchema = z.discriminatedUnion('event', [
  z.object({ event: z.literal('accepted'), already: z.boolean() }),
  z.object({ event: z.literal('quiesced'), scans: z.int(), total: z.int(), members: z.array(memberPair) }),
  z.object({ event: z.literal('signalled'), total: z.int(), skippedGuardians: z.int() }),
  z.object({
    event: z.literal('budgetExhausted'),
    survivors: z.int(),
    unkillable: z.array(memberPair),
    /** Nested guardians that have not ended; an older guardian does not name them. */
    guardians: z.array(memberPair).default([]),
  }),
  z.object({ event: z.literal('settled'), exit: z.int() }),
]);

export const answerSchema = z.object({ error: z.string() });

export type Hello = z.infer<typeof helloSchema>;
export type Members = z.infer<typeof membersSchema>;
export type DrainEvent = z.infer<typeof drainEventSchema>;
