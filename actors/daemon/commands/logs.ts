/** Captured output of a run, followed for as long as the work itself goes on, or until nobody is left who could write. */
import { existsSync, type FSWatcher, watch } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScopeId } from '../../../machines/ids.ts';
import { openCaptured } from '../../../pty/launch/captureReading.ts';
import { resolveRun } from '../../ingest/namedRuns.ts';
import { required } from '../../runtime/actorAccess.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { DaemonContext } from '../context.ts';
import { captureViews, sessionOf } from '../views/captureView.ts';
import { rootScopeOf } from '../views/runView.ts';
import { FinalDrain } from './finalDrain.ts';

interface Arguments {
  readonly id: string;
  readonly stream: 'stdout' | 'stderr' | 'both';
  readonly follow: boolean;
  /** How long a follower stays: the final drain after the root's end, or the proof that everything is gone. */
  readonly until: 'ended' | 'proved';
  readonly tailBytes?: number | undefined;
}

type Stream = 'stdout' | 'stderr';
/** A multiple of three, so that pieces of base64 can be put together without padding in between. */
const pieceBytes = 49_152;

export async function* runLogs(context: DaemonContext, args: Arguments, signal: AbortSignal): AsyncGenerator<unknown> {
  const scopeId = capturedScope(context, args.id);
  const streams: readonly Stream[] = args.stream === 'both' ? ['stdout', 'stderr'] : [args.stream];
  const directory = join(context.places.scopesDir, scopeId);
  assertDirectory(context, scopeId, directory);
  const tails = await Promise.all(streams.map((stream) => Tail.open(directory, stream, args.tailBytes)));
  const changes = new Changes(signal);
  const drain = new FinalDrain(context, scopeId, () => changes.notify());
  const stopListening = context.host.onCommit((records) => {
    if (records.some(({ actor }) => actor.id === scopeId)) changes.notify();
  });
  try {
    for (const tail of tails) if (args.follow) changes.watch(tail.path);
    for (;;) {
      // Asked before reading: what is written before the proof, or before the root's end, is in the file when that is seen.
      const scope = required(context.host, 'executionScope', scopeId);
      let isNew = false;
      for (const tail of tails) {
        for await (const piece of tail.rest()) {
          isNew = true;
          yield piece;
        }
      }
      if (signal.aborted) return;
      if (scope.hasTag('capacityReleased') || !args.follow) break;
      if (args.until === 'ended' && scope.context.status !== null && (await drain.isOver(isNew))) break;
      await changes.next();
    }
    const now = required(context.host, 'executionScope', scopeId);
    const membership = now.hasTag('capacityReleased') ? undefined : await context.guardians.members(scopeId);
    const ends = await captureViews(context, now, membership);
    yield { end: ends.filter(({ stream }) => streams.some((name) => name === stream)) };
  } finally {
    stopListening();
    drain.close();
    changes.close();
    for (const tail of tails) await tail.close();
  }
}

/** Throws `not_captured` (exit 3) for a run whose output is in nobody's files, `in_terminal` for one of a session. */
export function capturedScope(context: DaemonContext, typed: string): ScopeId {
  const runId = resolveRun(context.store, typed);
  const scope = rootScopeOf(context, required(context.host, 'run', runId));
  const session = scope && sessionOf(context.host, scope.context.scopeId);
  if (session !== undefined) throw inTerminal(runId, session.context.sessionId);
  if (scope !== undefined) return scope.context.scopeId;
  throw new OperatingError({
    code: 'not_captured',
    message: `the output of ${runId} is not captured by Custody`,
    exitCode: 3,
    next: [`custody runs show ${runId}`],
  });
}

const inTerminal = (runId: string, sessionId: string): OperatingError =>
  new OperatingError({
    code: 'in_terminal',
    message: `${runId} runs in a terminal: what it says is in the transcript of ${sessionId}`,
    exitCode: 2,
    next: [`custody sessions tail ${sessionId}`, `custody sessions attach ${sessionId}`],
    details: { sessionId },
  });

/**
 * A stream that is missing is said to be incomplete at the end of the other one; where the whole directory is, nothing is
 * left to print, and silence would look like a job that said nothing. Throws `output_missing` (exit 3).
 */
function assertDirectory({ host }: DaemonContext, scopeId: ScopeId, directory: string): void {
  const { slots, runId } = required(host, 'executionScope', scopeId).context;
  if (slots === null || existsSync(directory)) return;
  throw new OperatingError({
    code: 'output_missing',
    message: `the captured output of ${runId} is gone: there is no directory ${JSON.stringify(directory)}`,
    exitCode: 3,
    next: [`custody runs show ${runId}`, 'custody doctor'],
    details: { scopeId, directory },
  });
}

class Tail {
  readonly path: string;
  readonly #stream: Stream;
  readonly #file: FileHandle | undefined;
  #position: number;

  private constructor(at: { path: string; stream: Stream; file: FileHandle | undefined; position: number }) {
    this.path = at.path;
    this.#stream = at.stream;
    this.#file = at.file;
    this.#position = at.position;
  }

  static async open(directory: string, stream: Stream, tailBytes: number | undefined): Promise<Tail> {
    const path = join(directory, `${stream}.log`);
    const file = await openCaptured(path);
    const size = file ? (await file.stat()).size : 0;
    const position = tailBytes === undefined ? 0 : Math.max(0, size - tailBytes);
    return new Tail({ path, stream, file, position });
  }

  /** What is there at this moment, and no more: a descendant that never stops writing would keep its reader for ever. */
  async *rest(): AsyncGenerator<{ readonly stream: Stream; readonly data: string }> {
    if (this.#file === undefined) return;
    const { size } = await this.#file.stat();
    const buffer = Buffer.allocUnsafe(pieceBytes);
    while (this.#position < size) {
      const wanted = Math.min(pieceBytes, size - this.#position);
      const { bytesRead } = await this.#file.read(buffer, 0, wanted, this.#position);
      if (bytesRead === 0) return;
      this.#position += bytesRead;
      yield { stream: this.#stream, data: buffer.toString('base64', 0, bytesRead) };
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}

/** Any number of notifications between two reads are one reason to read again. */
class Changes {
  readonly #watchers: FSWatcher[] = [];
  readonly #signal: AbortSignal;
  #pending = false;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.notify(), { once: true });
  }

  watch(path: string): void {
    try {
      this.#watchers.push(watch(path, () => this.notify()).on('error', () => {}));
    } catch {
      // Without notifications the proof still wakes the reader; the file is read to its end then.
    }
  }

  notify(): void {
    this.#pending = true;
    this.#wake?.();
  }

  async next(): Promise<void> {
    if (!this.#pending && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#wake = undefined;
    this.#pending = false;
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }
}
