/** Makes a ticket: its directory with the mark and the file for the executor, and the row that remembers it. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { canonicalJson } from '../../../machines/canonical.ts';
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import { privateDirectory, readOwn, syncDirectory, writeWhole } from '../../executor/files.ts';
import { issueMark, markIn } from '../../executor/marks.ts';
import { parseTicket, publicTextOf, type Ticket, ticketDigest } from '../../executor/ticket.ts';
import { everyActor } from '../../runtime/actorAccess.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { withdraw } from './revocation.ts';

type Parts = Pick<Runtime, 'store' | 'places' | 'clock' | 'host'>;

export interface Asked {
  readonly ticketId: string;
  readonly executor: string;
  readonly expiresMs: number | undefined;
}

export interface Issued {
  readonly ticket: Ticket;
  readonly file: string;
  readonly superseded: readonly string[];
}

export const ticketFile = (directory: string): string => join(directory, 'ticket.json');
const largestTicket = 65_536;

/**
 * For a sealed generation whose directory is in its place. Throws `main_worktree`, `path_nested`, `executor_at_work`
 * (exit 13), and what the file system says.
 */
export function issue(parts: Parts, generation: GenerationSnapshot, asked: Asked): Issued {
  const { store, places } = parts;
  assertRemovable(parts, generation);
  const ticket = ticketFor(parts, generation, asked);
  const { directory } = ticket;
  makePrivate(places.ticketsDir);
  privateDirectory(directory);
  const earlier = store.tickets.issuedFor(ticket.generationId);
  // First of all: with two that count, the later one would not be the only one.
  for (const each of earlier) withdraw(generation, each, 'superseded');
  writeWhole(ticketFile(directory), `${canonicalJson(ticket)}\n`);
  store.write(() => store.tickets.issue(rowOf(ticket)));
  issueMark(directory, publicTextOf(ticket));
  syncDirectory(places.ticketsDir);
  return { ticket, file: ticketFile(directory), superseded: earlier.map(({ ticketId }) => ticketId) };
}

/** What was issued under this id before; undefined where it was not, or its file is gone. */
export function issuedBefore({ store }: Pick<Parts, 'store'>, ticketId: string): Issued | undefined {
  const row = store.tickets.find(ticketId);
  const text = row && readOwn(ticketFile(row.directory), largestTicket);
  if (row === undefined || text === undefined) return undefined;
  const ticket = parseTicket(text);
  // A daemon that died between the row and the mark has left the ticket without one.
  if (row.state === 'issued' && markIn(row.directory) === undefined) issueMark(row.directory, publicTextOf(ticket));
  return { ticket, file: ticketFile(row.directory), superseded: [] };
}

function ticketFor({ store, places, clock }: Parts, { context }: GenerationSnapshot, asked: Asked): Ticket {
  const { ticketId, executor, expiresMs } = asked;
  const { generationId, sealEpoch, authorityEpoch, path, fsIdentity } = context;
  const issued = clock.now();
  return {
    version: 1,
    ticketId,
    installationId: store.installationId,
    generationId,
    sealEpoch,
    authorityEpoch,
    executor,
    path,
    fsIdentity,
    issued,
    expires: expiresMs === undefined ? null : { monoMs: issued.monoMs + expiresMs, bootId: issued.bootId },
    directory: join(places.ticketsDir, ticketId),
    aside: places.asideDir,
    secret: randomBytes(32).toString('hex'),
  };
}

const rowOf = (ticket: Ticket) => ({
  ticketId: ticket.ticketId,
  generationId: ticket.generationId,
  sealEpoch: ticket.sealEpoch,
  authorityEpoch: ticket.authorityEpoch,
  executor: ticket.executor,
  secretDigest: ticketDigest(ticket),
  directory: ticket.directory,
  expiresMonoMs: ticket.expires?.monoMs ?? null,
  expiresBootId: ticket.expires?.bootId ?? null,
  issuedWallMs: ticket.issued.wallMs,
});

/** What would go along with it is asked here once more: an executor knows of no other worktree. */
function assertRemovable({ host }: Parts, { context }: GenerationSnapshot): void {
  const { generationId, path, fsIdentity } = context;
  const isBelow = (inner: string) => inner.startsWith(path + sep);
  if (fsIdentity.gitdir === '' || isBelow(fsIdentity.gitdir)) {
    throw new OperatingError({
      code: 'main_worktree',
      message: `${JSON.stringify(path)} is the main worktree: the repository itself lies in it`,
      exitCode: 13,
      next: ['move or remove the repository by hand, when nobody needs it'],
      details: { generationId },
    });
  }
  for (const { id, snapshot } of everyActor(host, 'worktreeGeneration', { settled: false })) {
    if (snapshot === 'corrupt' || id === generationId || !isBelow(snapshot.context.path)) continue;
    throw new OperatingError({
      code: 'path_nested',
      message: `the worktree of ${id} lies inside of ${generationId}, and would go along with it`,
      exitCode: 13,
      next: [`custody worktrees show ${id}`],
      details: { generationId, inner: id },
    });
  }
}

function makePrivate(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  privateDirectory(path);
}
