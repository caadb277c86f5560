import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Receipt, receiptSchema } from '../../../pty/guardian/receipt.ts';
import { errnoOf, isGone } from '../linux/errno.ts';
import {
  type BytesEvidence,
  type ContentEvidence,
  type FileEvidence,
  RECEIPT_BYTES,
  type ReceiptCheck,
  receiptChecks,
} from './checks.ts';
import type { ReceiptReading, ReceiptRequest } from './expectation.ts';
import { type ReceiptFiles, receiptFiles } from './files.ts';

export interface ReadReceiptOptions {
  readonly checks?: readonly ReceiptCheck[];
  readonly files?: ReceiptFiles;
}

type Refusal = Exclude<ReceiptReading, { status: 'authentic' }>;

const ABSENT: Refusal = { status: 'absent' };

function refuse(reason: string): Refusal {
  return { status: 'not_authentic', reason };
}

/** Opening says a good deal by itself: links are refused by the kernel, and what is not there is simply absent. */
function refusalToOpen(error: unknown, linkReason: string): Refusal {
  const code = errnoOf(error);
  if (code === '') throw error;
  if (isGone(code)) return ABSENT;
  if (code === 'ELOOP' || code === 'ENOTDIR') return refuse(linkReason);
  return refuse(`unreadable_${code.toLowerCase()}`);
}

class Reading {
  readonly #request: ReceiptRequest;
  readonly #checks: readonly ReceiptCheck[];
  readonly #files: ReceiptFiles;

  constructor(request: ReceiptRequest, options: ReadReceiptOptions) {
    this.#request = request;
    this.#checks = options.checks ?? receiptChecks;
    this.#files = options.files ?? receiptFiles;
  }

  run(): ReceiptReading {
    const { scopeDir } = this.#request;
    let directory: number;
    try {
      directory = this.#files.open(scopeDir, { directory: true, followLinks: this.#follows('directory') });
    } catch (error) {
      return refusalToOpen(error, 'directory_symlink');
    }
    try {
      return this.#file(directory);
    } finally {
      this.#files.close(directory);
    }
  }

  /** Through the open directory, so that nobody can exchange it between two looks. */
  #file(directory: number): ReceiptReading {
    const path = join('/proc/self/fd', String(directory), `${this.#request.kind}.json`);
    let file: number;
    try {
      file = this.#files.open(path, { directory: false, followLinks: this.#follows('file') });
    } catch (error) {
      return refusalToOpen(error, 'symlink');
    }
    try {
      const evidence = {
        directory: this.#files.facts(directory),
        file: this.#files.facts(file),
        expected: this.#request.expected,
      };
      return this.#failing('file', evidence) ?? this.#bytes(evidence, file, path);
    } catch (error) {
      // The file was renamed away between opening and looking: the next look sees what came in its place.
      return refusalToOpen(error, 'replaced_while_read');
    } finally {
      this.#files.close(file);
    }
  }

  #bytes(file: FileEvidence, fd: number, path: string): ReceiptReading {
    const bytes = Buffer.alloc(RECEIPT_BYTES);
    const length = this.#files.read(fd, bytes);
    const evidence = { ...file, bytes, length, named: this.#files.factsOfName(path) };
    return this.#failing('bytes', evidence) ?? this.#content(evidence);
  }

  #content(bytes: BytesEvidence): ReceiptReading {
    const text = bytes.bytes.toString('latin1', 0, bytes.length).trimEnd();
    const decoded = decode(text);
    if (typeof decoded === 'string') return refuse(decoded);
    if (decoded.kind !== this.#request.kind) return refuse('wrong_kind');
    const refusal = this.#failing('content', { ...bytes, receipt: decoded, text });
    if (refusal !== undefined) return refusal;
    return {
      status: 'authentic',
      receipt: decoded,
      bytes: bytes.bytes,
      bytesDigest: createHash('sha256').update(bytes.bytes).digest('hex'),
      slot: { dev: bytes.file.dev, ino: bytes.file.ino },
    };
  }

  #follows(of: 'directory' | 'file'): boolean {
    return !this.#checks.some((check) => check.stage === 'open' && check.of === of);
  }

  #failing(stage: 'file', evidence: FileEvidence): Refusal | undefined;
  #failing(stage: 'bytes', evidence: BytesEvidence): Refusal | undefined;
  #failing(stage: 'content', evidence: ContentEvidence): Refusal | undefined;
  #failing(stage: string, evidence: unknown): Refusal | undefined {
    for (const check of this.#checks) {
      if (check.stage !== stage || check.stage === 'open') continue;
      if (!(check.holds as (evidence: unknown) => boolean)(evidence)) return refuse(check.reason);
    }
    return undefined;
  }
}

/** The three refusals without which there would be nothing to check. */
function decode(text: string): Receipt | 'not_json' | 'unknown_version' | 'malformed' {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'not_json';
  }
  if (typeof value !== 'object' || value === null) return 'malformed';
  if ((value as { v?: unknown }).v !== 1) return 'unknown_version';
  const parsed = receiptSchema.safeParse(value);
  return parsed.success ? parsed.data : 'malformed';
}

/**
 * Reads one receipt and believes none of it before every check has passed (GRD-05). What is not authentic is a finding for
 * people and never an event; the caller may look again when the file changes.
 */
export function readReceipt(request: ReceiptRequest, options: ReadReceiptOptions = {}): ReceiptReading {
  return new Reading(request, options).run();
}
