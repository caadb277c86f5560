/** What a worker believed when it started; every event of a worker carries it whole (OCC-02). */
import { z } from 'zod';
import { claimIdSchema, goalIdSchema, nodeIdSchema } from './ids.ts';

export const stepSchema = z.enum(['backlog', 'todo', 'plan', 'implement', 'quality', 'governance', 'review']);
export type Step = z.infer<typeof stepSchema>;

export const basisSchema = z.strictObject({
  goalId: goalIdSchema,
  occurrence: z.int().positive(),
  step: stepSchema,
  nodeId: nodeIdSchema,
  round: z.int().min(0),
  claimId: claimIdSchema.nullable(),
});
export type Basis = z.infer<typeof basisSchema>;
