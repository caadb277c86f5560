/**
 * The work of an executor (WT-07), the same for archiving and removing: the ticket is looked at, begun, and its worktree
 * put aside in one step; then it is consumed, git's records of it go, and a receipt says so. Every step can be repeated:
 * whoever is killed runs again with the same ticket. Nobody is asked whether anything is alive: the seal has said it.
 */
import { closeSync, existsSync, lstatSync, renameSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { canonicalJson } from '../../machines/canonical.ts';
import { OperatingError } from '../runtime/operatingError.ts';
import { asideName, assertTakeable, holdersOf, isAtItsPlace, isIn, notTheWorktree, putBack, take } from './aside.ts';
import { emptyWholly, type Left } from './emptying.ts';
import {
  errnoOf,
  isPrivateDirectory,
  privateDirectory,
  readOwn,
  syncDirectory,
  writeOnce,
  writeWhole,
} from './files.ts';
import { changeMark, hasMark, type Mark, markIn } from './marks.ts';
import { openParent } from './place.ts';
import { type Progress, progressIn, recordProgress } from './progress.ts';
import { headIn, keepRecords, recordsOf, removeRecords } from './records.ts';
import {
  type Moment,
  parseTicket,
  publicTextOf,
  type Receipt,
  receiptSchema,
  type Ticket,
  type TicketReason,
  ticketDigest,
  ticketRefused,
} from './ticket.ts';

export interface Executor {
  readonly name: 'custody-archive' | 'custody-remove';
  readonly now: () => Moment;
  /** Called before every change, with what comes next; for tests. */
  readonly step?: (name: string) => void;
}

export interface Executed {
  readonly receipt: Receipt;
  readonly file: string;
}

const largestReceipt = 65_536;
export const receiptFile = (directory: string): string => join(directory, 'receipt.json');

/**
 * Throws `ticket_refused`, and what `assertTakeable` does (exit 13), before anything is touched; `incomplete` (exit 5), with what is left, afterwards.
 */
export function execute(executor: Executor, text: string): Executed {
  const ticket = parseTicket(text);
  const { directory } = ticket;
  if (ticket.executor !== executor.name) throw ticketRefused('other_executor', { issuedFor: ticket.executor });
  if (!isPrivateDirectory(directory)) throw ticketRefused('unknown');
  const mark = knownMark(ticket);
  const finished = receiptIn(ticket);
  if (finished !== undefined && mark !== 'live' && mark !== 'used')
    return { receipt: finished, file: receiptFile(directory) };
  const progress = mark === 'live' ? begin(executor, ticket) : resume(executor, ticket, mark);
  return finish(executor, ticket, consume(executor, ticket, putAside(executor, ticket, progress)));
}

/** Throws `ticket_refused` for a ticket that is not what its directory says it is. */
function knownMark(ticket: Ticket): Mark {
  const found = markIn(ticket.directory);
  if (found === undefined) throw ticketRefused('unknown');
  if (found.text !== publicTextOf(ticket)) throw ticketRefused('forged');
  return found.mark;
}

const refusals: Readonly<Partial<Record<Mark, TicketReason>>> = {
  superseded: 'superseded',
  stale: 'stale_epoch',
  disturbed: 'disturbed',
  used: 'used',
};

function begin({ now, step }: Executor, ticket: Ticket): Progress {
  const began = now();
  const { expires, directory } = ticket;
  // A monotonic time means nothing in another boot (TIME-01).
  if (expires !== null && (expires.bootId !== began.bootId || began.monoMs >= expires.monoMs))
    throw ticketRefused('expired');
  assertTakeable(ticket);
  const [holder] = holdersOf(ticket);
  const progress: Progress = { phase: 'aside', began, holder, records: recordsOf(ticket), head: headIn(ticket) };
  step?.('progress');
  recordProgress(directory, progress);
  step?.('begin');
  if (!changeMark(directory, 'live', 'begun')) throw refusedBy(knownMark(ticket));
  return progress;
}

const refusedBy = (mark: Mark): OperatingError => ticketRefused(refusals[mark] ?? 'unknown');

function resume(executor: Executor, ticket: Ticket, mark: Mark): Progress {
  if (mark === 'live') return begin(executor, ticket);
  const progress = mark === 'used' ? undefined : progressIn(ticket.directory);
  const goesOn = mark === 'begun' || mark === 'taken' || progress?.phase === 'consuming';
  if (goesOn && progress !== undefined) return progress;
  if (goesOn) throw ticketRefused('forged');
  // One that died after the move has left it aside, and was withdrawn since.
  throw progress !== undefined && isIn(progress.holder, ticket) ? undone(ticket, progress) : refusedBy(mark);
}

/** Returns when the worktree lies in its holder, or was consumed there. */
function putAside(executor: Executor, ticket: Ticket, progress: Progress): Progress {
  if (progress.phase === 'consuming' || hasMark(ticket.directory, 'taken')) return progress;
  if (isIn(progress.holder, ticket)) return consuming(executor, ticket, progress);
  if (!isAtItsPlace(ticket))
    throw notTheWorktree(ticket, existsSync(ticket.path) ? 'another directory' : 'no directory');
  assertTakeable(ticket);
  const moved = taken(executor, ticket, progress);
  return consuming(executor, ticket, moved);
}

function taken(executor: Executor, ticket: Ticket, progress: Progress): Progress {
  const step = executor.step ?? (() => undefined);
  const [, beside] = holdersOf(ticket);
  privateDirectory(ticket.aside);
  try {
    take(ticket, progress.holder, step);
    return progress;
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV' || progress.holder === beside) throw error;
  }
  rmdirSync(progress.holder);
  const elsewhere = { ...progress, holder: beside };
  recordProgress(ticket.directory, elsewhere);
  take(ticket, beside, step);
  return elsewhere;
}

/** The last moment at which a ticket that was revoked meanwhile undoes everything. */
function consuming(executor: Executor, ticket: Ticket, progress: Progress): Progress {
  executor.step?.('consume');
  // Somebody else with the same ticket may have been faster.
  if (changeMark(ticket.directory, 'begun', 'taken') || hasMark(ticket.directory, 'taken')) return progress;
  throw undone(ticket, progress);
}

/** Gives the worktree back; says why its ticket counts no more, or that it could not go back. */
function undone(ticket: Ticket, { holder }: Progress): OperatingError {
  const parent = openParent(dirname(ticket.path));
  try {
    const error = putBack(ticket, holder, parent);
    return error.code === 'displaced' ? error : refusedBy(knownMark(ticket));
  } finally {
    closeSync(parent);
  }
}

interface Consumed {
  readonly progress: Progress;
  readonly to: string | null;
}

function consume(executor: Executor, ticket: Ticket, progress: Progress): Consumed {
  if (executor.name === 'custody-archive') return { progress, to: archive(executor, ticket, progress) };
  const left = removeHolder(executor, progress);
  if (left.length > 0) throw incomplete(ticket, left);
  return { progress, to: null };
}

/** The holder becomes the archive: a manifest, the worktree, and what git had recorded of it. */
function archive({ step }: Executor, ticket: Ticket, { holder, records, head, began }: Progress): string {
  const { generationId, sealEpoch, ticketId, path, fsIdentity } = ticket;
  const to = join(dirname(holder), `archive-${generationId}-${sealEpoch}-${ticketId}`);
  if (!existsSync(holder) && isIn(to, ticket)) return to;
  if (!isIn(holder, ticket)) throw notTheWorktree(ticket, `${holder} does not hold it any more`);
  step?.('records');
  keepRecords(ticket, records, join(holder, 'git'));
  step?.('manifest');
  const manifest = {
    version: 1,
    generationId,
    sealEpoch,
    ticketId,
    path,
    fsIdentity,
    head,
    archivedWallMs: began.wallMs,
  };
  writeWhole(join(holder, 'manifest.json'), `${canonicalJson(manifest)}\n`);
  step?.('archive');
  renameSync(holder, to);
  syncDirectory(dirname(to));
  return to;
}

/** With all that is in it; what an earlier attempt had brought up to it goes as well. */
function removeHolder({ step }: Executor, { holder }: Progress): readonly Left[] {
  if (lstatSync(holder, { throwIfNoEntry: false }) === undefined) return [];
  if (!isPrivateDirectory(holder)) return [{ path: holder, reason: 'not_private' }];
  const directory = openParent(holder);
  try {
    const { left } = emptyWholly(directory, { shown: holder, step: () => step?.('remove') });
    if (left.length > 0) return left;
  } finally {
    closeSync(directory);
  }
  step?.('holder');
  rmdirSync(holder);
  syncDirectory(dirname(holder));
  return [];
}

function finish(executor: Executor, ticket: Ticket, { progress, to }: Consumed): Executed {
  const { step, now, name } = executor;
  if (progress.records !== null) {
    const left = removeRecords(ticket, progress.records, () => step?.('git'));
    if (left.length > 0) throw incomplete(ticket, left);
  }
  const { directory, version, ticketId, generationId, sealEpoch, authorityEpoch, path, fsIdentity } = ticket;
  const receipt: Receipt = {
    ...{ version, ticketId, generationId, sealEpoch, authorityEpoch, executor: name, path, fsIdentity },
    ticketDigest: ticketDigest(ticket),
    outcome: name === 'custody-archive' ? 'archived' : 'removed',
    to: to === null ? null : join(to, asideName),
    git: progress.records === null ? 'none' : 'deregistered',
    began: progress.began,
    endedWallMs: now().wallMs,
  };
  step?.('receipt');
  const file = receiptFile(directory);
  // Whoever was faster with the same ticket has said the same.
  if (writeOnce(file, `${canonicalJson(receipt)}\n`)) return { receipt, file };
  return { receipt: receiptIn(ticket)!, file };
}

function receiptIn({ directory }: Ticket): Receipt | undefined {
  const text = readOwn(receiptFile(directory), largestReceipt);
  return text === undefined ? undefined : receiptSchema.parse(JSON.parse(text));
}

const incomplete = ({ path }: Ticket, left: readonly Left[]): OperatingError =>
  new OperatingError({
    code: 'incomplete',
    message: `the worktree is gone from ${JSON.stringify(path)}, but this is left of it: ${left[0]!.path} (${left[0]!.reason})${left.length > 1 ? ` and ${left.length - 1} more` : ''}`,
    exitCode: 5,
    retryable: true,
    next: [`look at ${left[0]!.path}`, `repeat the command: it goes on with what is left of ${basename(path)}`],
    details: { left },
  });
