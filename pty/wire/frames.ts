/**
 * Frames on the socket of the PTY host: one byte of type, four of length (little endian), the body. Terminal bytes travel
 * as they are, beside JSON for everything else, so that nothing on the way has to decode them.
 */

export const frameType = { json: 1, output: 2, input: 3 } as const;
export type FrameType = (typeof frameType)[keyof typeof frameType];

export interface Frame {
  readonly type: number;
  readonly body: Buffer;
}

/** A larger one is a peer that speaks something else. */
export const frameMaxBytes = 16 * 1024 * 1024;

const headBytes = 5;
const offsetBytes = 8;

function head(type: FrameType, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(headBytes);
  buffer.writeUInt8(type, 0);
  buffer.writeUInt32LE(length, 1);
  return buffer;
}

export function jsonFrame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  return Buffer.concat([head(frameType.json, body.length), body]);
}

export const inputFrame = (bytes: Uint8Array): Buffer => Buffer.concat([head(frameType.input, bytes.length), bytes]);

/** What stands before output bytes: the frame's head, and where in the transcript the first of them lies. */
export function outputHead(offset: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(headBytes + offsetBytes);
  buffer.writeUInt8(frameType.output, 0);
  buffer.writeUInt32LE(offsetBytes + length, 1);
  buffer.writeBigUInt64LE(BigInt(offset), headBytes);
  return buffer;
}

export class FrameError extends Error {}

/** Reads the body of an output frame; the bytes are a view, not a copy. Throws FrameError. */
export function outputOf(body: Buffer): { offset: number; bytes: Buffer } {
  if (body.length < offsetBytes) throw new FrameError('output without an offset');
  return { offset: Number(body.readBigUInt64LE(0)), bytes: body.subarray(offsetBytes) };
}

/** Throws FrameError; what the body holds is not repeated there, because it may be somebody's input. */
export function messageOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new FrameError('not JSON');
  }
}

/** Cuts a stream of any chunking into frames. Throws FrameError for a length that no peer of ours would send. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #bytes = 0;

  *push(chunk: Buffer): Generator<Frame> {
    this.#pieces.push(chunk);
    this.#bytes += chunk.length;
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) yield frame;
  }

  #next(): Frame | undefined {
    if (this.#bytes < headBytes) return undefined;
    const start = this.#joined(headBytes);
    const length = start.readUInt32LE(1);
    if (length > frameMaxBytes) throw new FrameError(`a frame of ${length} bytes`);
    if (this.#bytes < headBytes + length) return undefined;
    const whole = this.#joined(headBytes + length);
    this.#pieces = whole.length > headBytes + length ? [whole.subarray(headBytes + length)] : [];
    this.#bytes = this.#pieces[0]?.length ?? 0;
    return { type: whole.readUInt8(0), body: whole.subarray(headBytes, headBytes + length) };
  }

  /** One buffer that begins with at least `count` bytes; joined only when a frame is complete, so that a large one costs once. */
  #joined(count: number): Buffer {
    if (this.#pieces[0]!.length < count) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0]!;
  }
}
