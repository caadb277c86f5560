/**
 * Traces of what is committed, through the API of OpenTelemetry alone: without a provider nothing is asked, read or kept.
 * Spans are made in a turn of their own behind the commit, so a commit waits for none of them.
 */
import { ProxyTracerProvider, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import type { Host } from '../../actors/host/api.ts';
import type { CommitRecord } from '../../actors/host/outcome.ts';
import type { Store } from '../../persistence/store.ts';
import { type Ended, endedBy, tell } from './lives.ts';

export interface TracedParts {
  readonly host: Pick<Host, 'onCommit'>;
  readonly store: Pick<Store, 'journal'>;
  readonly version: string;
  /** Wall-clock milliseconds. */
  readonly wallMs: () => number;
  /** Milliseconds that only go forward. */
  readonly monoMs: () => number;
  /** Lives that have ended and are never told, and why. */
  readonly onLoss: (lives: number, reason: string) => void;
  /** Lives that may wait to be told. */
  readonly waitingAtMost?: number;
  /** A reason that a life could not be told; it changes nothing else. */
  readonly onFault: (error: unknown) => void;
}

const nothing = new ProxyTracerProvider().getDelegate();

/** Whoever has registered a provider, before the program or in it. */
function isListening(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider && provider.getDelegate() === nothing);
}

/** Lives that end while others are told wait; what has no room is left out and counted, and the journal still has it. */
const roomForLives = 10_000;
/** A reboot ends everything at once, and telling a life reads hundreds of rows: whoever asks meanwhile is heard in between. */
const toldPerTurn = 16;
/** How long whoever stops is kept waiting for what has not been told; ten thousand lives take many times that. */
const lastWordsMs = 1_000;

/** Returns how to stop; what waits is told first, as far as a second goes. */
export function traceCommits(parts: TracedParts): () => void {
  const { host, store, version, wallMs, monoMs, onLoss, onFault, waitingAtMost = roomForLives } = parts;
  const waiting: Ended[] = [];
  let leftOut = 0;
  let scheduled: NodeJS.Immediate | undefined;
  const tracer = (): Tracer => trace.getTracer('custody', version);

  function tellNext(count: number): void {
    for (const ended of waiting.splice(0, count)) {
      try {
        tell(ended, tracer(), store.journal);
      } catch (error) {
        onFault(error);
      }
    }
  }

  function countLoss(): void {
    if (leftOut > 0) onLoss(leftOut, 'too many ended at once');
    leftOut = 0;
  }

  function turn(): void {
    tellNext(toldPerTurn);
    if (waiting.length === 0) countLoss();
    scheduled = waiting.length > 0 ? setImmediate(turn) : undefined;
  }

  const stop = host.onCommit((records) => {
    if (!isListening()) return;
    commitSpan(tracer(), records, wallMs());
    const ended = records.flatMap(endedBy);
    const room = ended.slice(0, waitingAtMost - waiting.length);
    waiting.push(...room);
    leftOut += ended.length - room.length;
    if (waiting.length > 0) scheduled ??= setImmediate(turn);
  });
  return () => {
    stop();
    if (scheduled !== undefined) clearImmediate(scheduled);
    const untilMs = monoMs() + lastWordsMs;
    while (waiting.length > 0 && monoMs() < untilMs) tellNext(toldPerTurn);
    countLoss();
    if (waiting.length > 0) onLoss(waiting.length, 'the daemon left before they were told');
  };
}

/** From the submission of its oldest event until it is on the disk. */
function commitSpan(tracer: Tracer, records: readonly CommitRecord[], endMs: number): void {
  let startMs = endMs;
  for (const { envelope } of records) startMs = Math.min(startMs, envelope.at.wallMs);
  const attributes = {
    'custody.commit.events': records.length,
    'custody.commit.actors': new Set(records.map(({ actor }) => `${actor.kind} ${actor.id}`)).size,
    'custody.commit.position': records.at(-1)?.position ?? 0,
  };
  tracer
    .startSpan('custody.commit', { root: true, kind: SpanKind.INTERNAL, startTime: startMs, attributes })
    .end(endMs);
}
