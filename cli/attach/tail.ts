/** sessions tail, and runs exec --pty --follow: what a terminal says, byte for byte, as `runs logs` has it of files. */

import { tailLines } from '../../pty/transcript/tail.ts';
import type { CaptureEnd } from '../../pty/wire/messages.ts';
import type { Invocation } from '../invocation.ts';
import { line } from '../print/escape.ts';
import { assertElsewhere, lookUpSession } from '../sessionClient.ts';
import { Followed, type Sink } from './following.ts';
import { lastExtent, placeOf } from './storedSession.ts';
import { TerminalModes } from './terminalModes.ts';

export interface TailFlags {
  readonly lines?: number;
  readonly follow?: boolean;
}

const defaultLines = 10;

export async function tail(invocation: Invocation, flags: TailFlags, typed: string): Promise<number> {
  const { lines = defaultLines, follow = false } = flags;
  const printer = new Printer(invocation);
  try {
    if (!follow) {
      await last(await lookUpSession(invocation.places, typed), lines, printer);
      return 0;
    }
    const followed = new Followed();
    try {
      const found = await followed.open(invocation.places, typed);
      if (process.stdout.isTTY) assertElsewhere(found.sessionId);
      const from = await last(found, lines, printer);
      finish(invocation, await followed.run(from, printer));
      return 0;
    } finally {
      followed.close();
    }
  } finally {
    await printer.end();
  }
}

/** Everything that the session has said and will say, until it is over. */
export async function followSession(invocation: Invocation, sessionId: string): Promise<void> {
  const printer = new Printer(invocation);
  const followed = new Followed();
  try {
    await followed.open(invocation.places, sessionId);
    finish(invocation, await followed.run(0, printer));
  } finally {
    followed.close();
    await printer.end();
  }
}

/** Prints the last lines and says where they end. */
async function last({ transcriptDir }: { readonly transcriptDir: string }, lines: number, printer: Printer) {
  const place = await placeOf(transcriptDir);
  const extent = lastExtent(place);
  if (extent === undefined) return 0;
  const { from, bytes } = await tailLines(place, extent, { lines });
  if (bytes.length > 0) await printer.bytes(from, bytes);
  return extent.to;
}

function finish({ output }: Invocation, end: CaptureEnd | undefined): void {
  if (output.json) output.record({ end: end ?? null });
  if (end?.complete === false) output.note(line`the output is not complete: ${end.reason ?? 'unknown'}`);
}

/** Raw bytes, or JSON lines of {offset, data} with base64. */
class Printer implements Sink {
  readonly #invocation: Invocation;
  readonly #modes = process.stdout.isTTY ? new TerminalModes() : undefined;

  constructor(invocation: Invocation) {
    this.#invocation = invocation;
  }

  async bytes(offset: number, bytes: Buffer): Promise<void> {
    const { output } = this.#invocation;
    if (output.json) {
      output.record({ offset, data: bytes.toString('base64') });
      return;
    }
    this.#modes?.note(bytes);
    await output.bytes('stdout', bytes);
  }

  gap(from: number, to: number): void {
    const { output } = this.#invocation;
    if (output.json) output.record({ gap: { from, to } });
    output.note(line`bytes ${from} to ${to} are not stored`);
  }

  /** What was shown on a terminal has left nothing switched on in it. */
  async end(): Promise<void> {
    if (this.#modes !== undefined && !this.#invocation.output.json) {
      await this.#invocation.output.bytes('stdout', Buffer.from(this.#modes.undo));
    }
  }
}
