/** Whether a receipt is the one that the ticket of this very seal was to bring (WT-05). A file that names things proves nothing. */
import { canonicalJson, sha256 } from '../../../machines/canonical.ts';
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import type { TicketRow } from '../../../persistence/tables/tickets.ts';
import { type Receipt, receiptSchema } from '../../executor/ticket.ts';
import { isInPlace } from '../../runtime/generations.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { Runtime } from '../../runtime/runtime.ts';

export interface Verified {
  readonly receipt: Receipt;
  /** Of the receipt's one spelling. */
  readonly digest: string;
}

type Reason =
  | 'unreadable'
  | 'unknown_ticket'
  | 'other_generation'
  | 'other_executor'
  | 'other_place'
  | 'superseded'
  | 'used'
  | 'stale_epoch'
  | 'expired'
  | 'still_there';

const words: Readonly<Record<Reason, string>> = {
  unreadable: 'it is no receipt of an executor',
  unknown_ticket: 'no ticket with this digest was issued here',
  other_generation: 'it is about another worktree',
  other_executor: 'the ticket was issued for another executor',
  other_place: 'it names another directory',
  superseded: 'its ticket counted no more',
  used: 'its ticket was used',
  stale_epoch: 'it belongs to another seal, or to an earlier control',
  expired: 'the executor began after the time of the ticket was over',
  still_there: 'the worktree is still there',
};

/** Throws `receipt_refused` (exit 13) with the reason. */
export function verifyReceipt(
  { store }: Pick<Runtime, 'store'>,
  generation: GenerationSnapshot,
  text: string,
): Verified {
  const receipt = parsed(text);
  if (receipt === undefined) throw refused('unreadable');
  const ticket = store.tickets.findBySecretDigest(receipt.ticketDigest);
  if (ticket === undefined || ticket.ticketId !== receipt.ticketId) throw refused('unknown_ticket');
  const reason = mismatch(generation, receipt, ticket);
  if (reason !== undefined) throw refused(reason);
  return { receipt, digest: sha256(canonicalJson(receipt)) };
}

function parsed(text: string): Receipt | undefined {
  try {
    return receiptSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function mismatch(generation: GenerationSnapshot, receipt: Receipt, ticket: TicketRow): Reason | undefined {
  const { generationId, sealEpoch, authorityEpoch, path, fsIdentity } = generation.context;
  if (ticket.generationId !== generationId || receipt.generationId !== generationId) return 'other_generation';
  if (ticket.executor !== receipt.executor) return 'other_executor';
  if (ticket.state !== 'issued') return ticket.state;
  const epochs = [ticket, receipt].every((of) => of.sealEpoch === sealEpoch && of.authorityEpoch === authorityEpoch);
  if (!epochs) return 'stale_epoch';
  if (receipt.path !== path || canonicalJson(receipt.fsIdentity) !== canonicalJson(fsIdentity)) return 'other_place';
  if (isLate(receipt, ticket)) return 'expired';
  return isInPlace(generation) ? 'still_there' : undefined;
}

/** Times of two boots are never compared (TIME-03). */
const isLate = ({ began }: Receipt, { expiresMonoMs, expiresBootId }: TicketRow): boolean =>
  expiresMonoMs !== null && (began.bootId !== expiresBootId || began.monoMs >= expiresMonoMs);

const refused = (reason: Reason): OperatingError =>
  new OperatingError({
    code: 'receipt_refused',
    message: `the receipt is refused: ${words[reason]}`,
    exitCode: 13,
    next: ['run the executor with the ticket that counts', 'custody worktrees ticket WORKTREE --executor NAME'],
    details: { reason },
  });
