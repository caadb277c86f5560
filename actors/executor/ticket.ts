/**
 * What an executor is given (WT-07): leave to archive or remove one directory, once, for one seal. It names everything that
 * has to be so; the executor compares, and asks nobody whether anything is alive.
 */
import { z } from 'zod';
import { canonicalJson, sha256 } from '../../machines/canonical.ts';
import { bootIdSchema, decimalSchema } from '../../machines/identity.ts';
import { OperatingError } from '../runtime/operatingError.ts';

const path = z.string().startsWith('/').max(4096);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const moment = z.strictObject({ wallMs: z.int().min(0), monoMs: z.int().min(0), bootId: bootIdSchema });

export const executorName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/);

export const ticketSchema = z.strictObject({
  version: z.literal(1),
  ticketId: z.string().regex(/^[A-Za-z0-9]{1,64}$/),
  installationId: z.string().min(1).max(64),
  generationId: z.string().min(1).max(64),
  sealEpoch: z.int().positive(),
  authorityEpoch: z.int().positive(),
  executor: executorName,
  path,
  fsIdentity: z.strictObject({
    dev: decimalSchema,
    ino: decimalSchema,
    gitdir: path,
    born: decimalSchema.nullable(),
  }),
  issued: moment,
  /** Not begun after this moment of the same boot (TIME-01); null for as long as the seal stands. */
  expires: moment.pick({ monoMs: true, bootId: true }).nullable(),
  /** Private to the user: says what became of the ticket, and holds the receipt. */
  directory: path,
  /** Private to the user: where the worktree is put aside, and where archives lie. */
  aside: path,
  secret: digest,
});
export type Ticket = z.infer<typeof ticketSchema>;

export const receiptSchema = z.strictObject({
  version: z.literal(1),
  ticketId: z.string().max(64),
  ticketDigest: digest,
  generationId: z.string().max(64),
  sealEpoch: z.int().positive(),
  authorityEpoch: z.int().positive(),
  executor: executorName,
  path,
  fsIdentity: ticketSchema.shape.fsIdentity,
  outcome: z.enum(['archived', 'removed']),
  /** Where the archive lies; null for what was removed. */
  to: path.nullable(),
  /** `deregistered`: git knows of no such worktree any more. `none`: it did not before. */
  git: z.enum(['deregistered', 'none']),
  began: moment,
  endedWallMs: z.int().min(0),
});
export type Receipt = z.infer<typeof receiptSchema>;
export type Moment = z.infer<typeof moment>;

/** What is kept of a secret. */
export const ticketDigest = ({ secret }: Pick<Ticket, 'secret'>): string => sha256(secret);

/** The ticket as everybody may see it, in its one spelling. */
export function publicTextOf({ secret, ...ticket }: Ticket): string {
  return canonicalJson({ ...ticket, ticketDigest: sha256(secret) });
}

export type TicketReason =
  | 'unreadable'
  | 'unknown'
  | 'forged'
  | 'other_executor'
  | 'superseded'
  | 'stale_epoch'
  | 'disturbed'
  | 'used'
  | 'expired';

const words: Readonly<Record<TicketReason, string>> = {
  unreadable: 'it is no ticket',
  unknown: 'nothing is known of it in its directory',
  forged: 'it is not the ticket that was issued',
  other_executor: 'it was issued for another executor',
  superseded: 'a later ticket for the same seal has taken its place',
  stale_epoch: 'control of the worktree has changed since',
  disturbed: 'somebody may have begun to write in the worktree since its seal',
  used: 'it was used',
  expired: 'its time is over',
};

/** Exit 13: get another ticket. */
export const ticketRefused = (reason: TicketReason, details: Readonly<Record<string, unknown>> = {}): OperatingError =>
  new OperatingError({
    code: 'ticket_refused',
    message: `the ticket is refused: ${words[reason]}`,
    exitCode: 13,
    next: ['custody worktrees ticket WORKTREE --executor NAME'],
    details: { reason, ...details },
  });

/** Throws `ticket_refused` (unreadable). */
export function parseTicket(text: string): Ticket {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw ticketRefused('unreadable');
  }
  const ticket = ticketSchema.safeParse(parsed);
  if (ticket.success) return ticket.data;
  throw ticketRefused('unreadable', { field: ticket.error.issues[0]?.path.join('.') });
}
