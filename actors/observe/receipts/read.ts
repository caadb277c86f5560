import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { parseReceipt, receiptBytes } from '../../../pty/guardian/receipt.ts';
import { errnoOf, isGone } from '../linux/errno.ts';
import {
  type BytesEvidence,
  type ContentEvidence,
  type FileEvidence,
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

function refuse(reason: string): Refusal {
  return { status: 'not_authentic', reason };
}

/** Opening says a good deal by itself: links are refused by the kernel, and what is not there is simply absent. */
function refusalToOpen(error: unknown, of: 'directory' | 'receipt'): Refusal {
  const code = errnoOf(error);
  if (code === '') throw error;
  if (isGone(code)) return { status: 'absent', missing: of };
  if (code === 'ELOOP' || code === 'ENOTDIR') return refuse(of === 'directory' ? 'directory_symlink' : 'symlink');
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
      return refusalToOpen(error, 'directory');
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
      return refusalToOpen(error, 'receipt');
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
      return refusalToOpen(error, 'receipt');
    } finally {
      this.#files.close(file);
    }
  }

  #bytes(file: FileEvidence, fd: number, path: string): ReceiptReading {
    const bytes = Buffer.alloc(receiptBytes);
    const length = this.#files.read(fd, bytes);
    const evidence = {
      ...file,
      bytes,
      length,
      named: this.#files.factsOfName(path, { followLinks: this.#follows('file') }),
    };
    return this.#failing('bytes', evidence) ?? this.#content(evidence);
  }

  #content(bytes: BytesEvidence): ReceiptReading {
    const parsed = parseReceipt(this.#request.kind, bytes.bytes.subarray(0, bytes.length));
    if (!parsed.ok) return refuse(parsed.reason);
    const { receipt } = parsed;
    const refusal = this.#failing('content', { ...bytes, receipt });
    if (refusal !== undefined) return refusal;
    return {
      status: 'authentic',
      receipt,
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

/**
 * Reads one receipt and believes none of it before every check has passed (GRD-05). What is not authentic is a finding for
 * people and never an event; the caller may look again when the file changes.
 */
export function readReceipt(request: ReceiptRequest, options: ReadReceiptOptions = {}): ReceiptReading {
  return new Reading(request, options).run();
}
