/**
 * Captured output as a value. Whoever wants to understand it (parse a result, compare it) has to go through
 * `requireCompleteCapture`: half of a JSON text may well be a JSON text (CAP-04, I-33).
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

export interface CaptureReading {
  readonly stream: string;
  readonly bytes: Buffer;
  readonly complete: boolean;
  /** Why it is not complete; null when it is. */
  readonly reason: string | null;
}

/** Somebody asked for the whole of a stream that is not whole, or not known to be. */
export class IncompleteCaptureError extends Error {
  override readonly name = 'IncompleteCaptureError';
  readonly code = 'capture_incomplete';
  readonly stream: string;
  readonly reason: string;

  constructor(stream: string, reason: string) {
    super(`${stream} is not complete: ${reason}`);
    this.stream = stream;
    this.reason = reason;
  }
}

/** The bytes of a complete capture. Throws IncompleteCaptureError for every other. */
export function requireCompleteCapture({ stream, bytes, complete, reason }: CaptureReading): Buffer {
  if (complete) return bytes;
  throw new IncompleteCaptureError(stream, reason ?? 'nothing says that it is');
}

/** Undefined for anything but a file: a workload may have put a fifo there, and opening that would wait for ever. */
export async function openCaptured(path: string): Promise<FileHandle | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (file === undefined || (await file.stat()).isFile()) return file;
  await file.close();
  return undefined;
}

export interface ReadingRequest {
  readonly path: string;
  /** What is known of the stream itself: a file says nothing about who may still write to it. */
  readonly known: { readonly stream: string; readonly complete: boolean; readonly reason: string | null };
  /** captureMemoryBytes: what is longer is cut here and no longer complete; the file itself is not touched (ruling 10). */
  readonly limitBytes: number;
}

/** Reads a captured stream into memory, at most `limitBytes` of it. Rejects with the system's own error. */
export async function readCapture({ path, known, limitBytes }: ReadingRequest): Promise<CaptureReading> {
  const { stream, complete, reason } = known;
  const file = await openCaptured(path);
  if (file === undefined)
    return { stream, bytes: Buffer.alloc(0), complete: false, reason: reason ?? 'the file is gone' };
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, limitBytes));
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    const cut = size > limitBytes ? `it has ${size} bytes and only ${limitBytes} are read (captureMemoryBytes)` : null;
    return { stream, bytes: bytes.subarray(0, length), complete: complete && cut === null, reason: reason ?? cut };
  } finally {
    await file.close();
  }
}
