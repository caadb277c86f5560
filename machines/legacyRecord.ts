/**
 * What another tool had on record, as it is taken in (INT-07): names, places, and claims. There is no text in it but paths
 * and names of branches, so that whatever else a tool keeps cannot come along (PRIV-01).
 */
import { z } from 'zod';
import { commit, digest } from './events/fields.ts';
import { bootIdSchema, decimalSchema, pidSchema } from './identity.ts';
import { producerSchema, runNameSchema } from './launcherNames.ts';
import { placeSchema } from './note.ts';
import { ownController } from './worktreeGenerationBlockers.ts';

/** Who had it on record. */
export const toolSchema = producerSchema.refine((tool) => tool !== ownController, 'is the name of this program');
export const legacyNameSchema = runNameSchema;
export const branchSchema = z.string().min(1).max(256);
const wallMs = z.int().min(0);

/**
 * A process as a tool remembers it. It names one process only with all of its parts (ID-06), and even then it is a claim:
 * nothing is bound by it until that very process is seen.
 */
export const claimedProcessSchema = z.strictObject({
  pid: pidSchema,
  /** Clock ticks after boot, field 22 of /proc/PID/stat. */
  startTicks: decimalSchema.optional(),
  bootId: bootIdSchema.optional(),
  uid: z.int().min(0).optional(),
  /** Inode numbers of the namespaces in whose terms pid and ticks are (namespaces(7)). */
  pidNamespace: decimalSchema.optional(),
  timeNamespace: decimalSchema.optional(),
});
export type ClaimedProcess = z.infer<typeof claimedProcessSchema>;

/** What the tool says of a run. Wall times are for people. */
export const legacyRunFields = {
  retryOf: legacyNameSchema.nullable().default(null),
  startedWallMs: wallMs.nullable().default(null),
  endedWallMs: wallMs.nullable().default(null),
  exit: z
    .strictObject({
      code: z.int().min(0).max(255).nullable().default(null),
      signal: z.int().min(1).max(64).nullable().default(null),
    })
    .nullable()
    .default(null),
  process: claimedProcessSchema.nullable().default(null),
};

export const legacyRecordSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('worktree'),
    /** Null where the tool has no name for it but its path. */
    name: legacyNameSchema.nullable(),
    digest,
    place: placeSchema,
    /** What all worktrees of its repository share (gitrepository-layout(5)). */
    commonGitDir: z.string().max(4096),
    branch: branchSchema.nullable(),
    commit: commit.nullable(),
  }),
  z.strictObject({ kind: z.literal('run'), name: legacyNameSchema, digest, ...legacyRunFields }),
  z.strictObject({ kind: z.literal('binding'), run: legacyNameSchema, worktree: legacyNameSchema, digest }),
]);
export type LegacyRecord = z.infer<typeof legacyRecordSchema>;

/** Records that share a commit. */
export const legacyBatch = 100;
