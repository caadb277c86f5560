/**
 * What a launcher says of work that it starts by itself (INT-04). A note uses the launcher's own names and states what
 * the launcher did or saw; which events follow from it is decided where notes are taken in, and nowhere in a launcher.
 * The format is public: the client, the Node module and any script write it, one JSON object a line.
 */
import { z } from 'zod';
import { freeText } from './events/fields.ts';
import { bootIdSchema, decimalSchema, pidSchema } from './identity.ts';
import { producerSchema, runNameSchema } from './launcherNames.ts';

export const noteVersion = 1;

/** One life of a producer's counter, random; a counter that had to be made anew is another stream. */
export const streamSchema = z.string().regex(/^[0-9a-f]{16,32}$/);

/**
 * A directory as the launcher found it (stat(2), statx(2)): `born` is its birth time in nanoseconds, null where the file
 * system keeps none, and tells a directory from a later one with the same inode; `gitdir` is where its `.git` leads,
 * resolved, or empty.
 */
export const placeSchema = z.strictObject({
  path: z.string().startsWith('/').max(4096),
  dev: decimalSchema,
  ino: decimalSchema,
  born: decimalSchema.nullable(),
  gitdir: z.string().max(4096),
});
export type Place = z.infer<typeof placeSchema>;

/** A living process as the launcher read it from procfs while it lived (ID-07): start in clock ticks after boot. */
export const notedProcessSchema = z.strictObject({
  pid: pidSchema,
  start: decimalSchema,
  uid: z.int().min(0),
  /** Inode numbers of the PID and time namespaces in whose terms pid and start are: those of whoever read them (namespaces(7)). */
  pidns: decimalSchema,
  timens: decimalSchema,
  /** Inode number of its pidfd where the kernel has pidfs, otherwise null. */
  pidfs: decimalSchema.nullable(),
});
export type NotedProcess = z.infer<typeof notedProcessSchema>;

const envelope = {
  v: z.literal(noteVersion),
  producer: producerSchema,
  stream: streamSchema,
  /** 1, 2, 3, … without holes: a missing number is a note that was lost (INT-05). */
  seq: z.int().positive(),
  at: z.strictObject({ wallMs: z.int().min(0), monoMs: z.int().min(0), bootId: bootIdSchema }),
};
const run = runNameSchema;

export const noteSchema = z.discriminatedUnion('type', [
  /** The launcher is about to start a run. */
  z.strictObject({
    ...envelope,
    type: z.literal('run.reserve'),
    run,
    label: freeText.max(200).nullable(),
    place: placeSchema.nullable(),
    retryOf: runNameSchema.nullable(),
  }),
  /** This process is the run. */
  z.strictObject({
    ...envelope,
    type: z.literal('run.bind'),
    run,
    process: notedProcessSchema,
    place: placeSchema.nullable(),
  }),
  /** The run works in this directory. */
  z.strictObject({ ...envelope, type: z.literal('run.place'), run, place: placeSchema }),
  /** The launcher saw it end: a claim, and nothing about writers (RUN-07). */
  z.strictObject({
    ...envelope,
    type: z.literal('run.exit'),
    run,
    code: z.int().min(0).max(255).nullable(),
    signal: z.int().min(1).max(64).nullable(),
  }),
]);
export type Note = z.infer<typeof noteSchema>;
export type NoteType = Note['type'];

/** Bytes of one note as a line, the line feed included; a longer one is refused (JRN-03). */
export const noteBytes = 16_384;
