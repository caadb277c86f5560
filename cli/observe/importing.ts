/** import-legacy: reads a source of another tool, whole and once, and has its records taken in by whoever has the store. */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { listingOfDocument } from '../../actors/ingest/legacy/document.ts';
import { type ImportReport, importListing } from '../../actors/ingest/legacy/importing.ts';
import type { Listing } from '../../actors/ingest/legacy/listing.ts';
import { listingOfPorcelain, porcelainFormat } from '../../actors/ingest/legacy/porcelain.ts';
import { locateRepository } from '../../actors/runtime/locate.ts';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import type { Format } from '../observeOptions.ts';
import type { AnyObserver } from './anyObserver.ts';

/** Of one source; it is held in memory while it is read. */
export const sourceBytes = 33_554_432;

export interface Source {
  readonly format: Format;
  readonly bytes: Buffer;
}

export type LegacyReport = ImportReport & {
  readonly format: Format;
  /** What was read, so that anybody can tell whether it is still the same. */
  readonly source: { readonly bytes: number; readonly sha256: string };
};

export interface ImportOptions {
  readonly dryRun: boolean;
  /** A directory of the repository whose worktrees are wanted. */
  readonly repo: string | undefined;
}

/**
 * Reads all of the source before anybody is asked. Throws `document_invalid`, `not_a_repository`; what it returns rejects
 * with what the store or the daemon refuses.
 */
export function preparedImport(
  { format, bytes }: Source,
  { dryRun, repo }: ImportOptions,
): (observer: Pick<AnyObserver, 'importLegacy'>) => Promise<LegacyReport> {
  const listing = listingOf(format, bytes);
  const commonGitDir = repo === undefined ? undefined : locateRepository(repo).commonGitDir;
  const source = { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  return async ({ importLegacy: take }) => ({
    ...{ format, source },
    ...(await importListing({ listing, dryRun, commonGitDir, take })),
  });
}

function listingOf(format: Format, bytes: Buffer): Listing {
  if (format === porcelainFormat) return listingOfPorcelain(bytes);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable('document_invalid', 'the source is not UTF-8');
  }
  return listingOfDocument(text);
}

/** `-` is standard input. Throws `input_unreadable`, `input_too_large`, `input_changed` (exit 2). */
export async function readSource(file: string): Promise<Buffer> {
  if (file === '-') return readStandardInput();
  let descriptor: number | undefined;
  try {
    // Not to wait for whoever might write into a FIFO; a terminal must not become ours.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    return readWhole(descriptor, file);
  } catch (cause) {
    if (cause instanceof OperatingError) throw cause;
    const { code = 'failed' } = cause as NodeJS.ErrnoException;
    throw unreadable('input_unreadable', `${JSON.stringify(file)} cannot be read: ${code}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function readWhole(descriptor: number, file: string): Buffer {
  const before = fstatSync(descriptor, { bigint: true });
  if (!before.isFile()) throw unreadable('input_unreadable', `${JSON.stringify(file)} is no file; use - for a pipe`);
  if (before.size > BigInt(sourceBytes)) throw tooLarge();
  const bytes = Buffer.alloc(Number(before.size));
  let length = 0;
  while (length < bytes.length) {
    const read = readSync(descriptor, bytes, length, bytes.length - length, length);
    if (read === 0) break;
    length += read;
  }
  const after = fstatSync(descriptor, { bigint: true });
  if (length < bytes.length || after.size !== before.size || after.mtimeNs !== before.mtimeNs)
    throw unreadable('input_changed', `${JSON.stringify(file)} was written while it was read; repeat the command`);
  return bytes;
}

async function readStandardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    total += chunk.length;
    if (total > sourceBytes) throw tooLarge();
  }
  return Buffer.concat(chunks);
}

const tooLarge = (): OperatingError =>
  unreadable('input_too_large', `the source is larger than ${sourceBytes} bytes; split it`);

const unreadable = (code: string, message: string): OperatingError =>
  new OperatingError({ code, message, exitCode: 2, next: ['custody import-legacy --help'] });
