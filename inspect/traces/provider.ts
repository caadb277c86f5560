/** A small provider: it makes the spans that this program begins, keeps to the ids that it is told, and samples nothing away. */
import { randomBytes } from 'node:crypto';
import {
  type Attributes,
  type AttributeValue,
  type Context,
  context as contexts,
  type HrTime,
  type Link,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  type SpanStatus,
  SpanStatusCode,
  type TimeInput,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { wantedSpanId } from './identity.ts';

export interface FinishedSpan {
  readonly scope: { readonly name: string; readonly version: string | undefined };
  readonly context: SpanContext;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Wall-clock milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: ReadonlyArray<{ readonly name: string; readonly atMs: number; readonly attributes: Attributes }>;
  readonly links: readonly Link[];
  readonly status: SpanStatus;
}

type Sink = (span: FinishedSpan) => void;

export class SmallProvider implements TracerProvider {
  readonly #sink: Sink;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  getTracer(name: string, version?: string): Tracer {
    const begin = (spanName: string, options: SpanOptions = {}, around: Context = contexts.active()): Span =>
      new SmallSpan({ scope: { name, version }, name: spanName, options, around, sink: this.#sink });
    return {
      startSpan: begin,
      startActiveSpan(spanName: string, ...rest: readonly unknown[]) {
        const work = rest.at(-1) as (span: Span) => unknown;
        const [options, around = contexts.active()] = rest.slice(0, -1) as [SpanOptions?, Context?];
        const span = begin(spanName, options, around);
        return contexts.with(trace.setSpan(around, span), work, undefined, span);
      },
    } as Tracer;
  }
}

interface Beginning {
  readonly scope: FinishedSpan['scope'];
  readonly name: string;
  readonly options: SpanOptions;
  readonly around: Context;
  readonly sink: Sink;
}

class SmallSpan implements Span {
  readonly #scope: FinishedSpan['scope'];
  readonly #context: SpanContext;
  readonly #parentSpanId: string | undefined;
  readonly #kind: SpanKind;
  readonly #startMs: number;
  readonly #attributes: Attributes;
  readonly #events: Array<FinishedSpan['events'][number]> = [];
  readonly #links: Link[];
  readonly #sink: Sink;
  #name: string;
  #status: SpanStatus = { code: SpanStatusCode.UNSET };
  #isOver = false;

  constructor({ scope, name, options, around, sink }: Beginning) {
    const parent = options.root === true ? undefined : trace.getSpanContext(around);
    const spanId = (options.root === true ? undefined : wantedSpanId(around)) ?? randomBytes(8).toString('hex');
    const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
    this.#scope = scope;
    this.#name = name;
    this.#context = { traceId, spanId, traceFlags: TraceFlags.SAMPLED };
    this.#parentSpanId = parent?.spanId === spanId ? undefined : parent?.spanId;
    this.#kind = options.kind ?? SpanKind.INTERNAL;
    this.#startMs = millis(options.startTime);
    this.#attributes = { ...options.attributes };
    this.#links = [...(options.links ?? [])];
    this.#sink = sink;
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  setAttribute(name: string, value: AttributeValue): this {
    return this.setAttributes({ [name]: value });
  }

  setAttributes(attributes: Attributes): this {
    Object.assign(this.#attributes, attributes);
    return this;
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    const isTime = isTimeInput(attributesOrTime);
    const attributes = isTime || attributesOrTime === undefined ? {} : (attributesOrTime as Attributes);
    this.#events.push({ name, atMs: millis(isTime ? attributesOrTime : time), attributes });
    return this;
  }

  addLink(link: Link): this {
    this.#links.push(link);
    return this;
  }

  addLinks(links: Link[]): this {
    this.#links.push(...links);
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.#status = status;
    return this;
  }

  updateName(name: string): this {
    this.#name = name;
    return this;
  }

  isRecording(): boolean {
    return !this.#isOver;
  }

  /** Nothing of this program records one; the text of an error may hold anything, so its class is all that is kept. */
  recordException(exception: unknown, time?: TimeInput): void {
    const type = exception instanceof Error ? exception.name : typeof exception;
    this.addEvent('exception', { 'exception.type': type }, time);
  }

  end(time?: TimeInput): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink({
      scope: this.#scope,
      context: this.#context,
      parentSpanId: this.#parentSpanId,
      name: this.#name,
      kind: this.#kind,
      startMs: this.#startMs,
      endMs: Math.max(this.#startMs, millis(time)),
      attributes: this.#attributes,
      events: this.#events,
      links: this.#links,
      status: this.#status,
    });
  }
}

const isTimeInput = (value: unknown): value is TimeInput =>
  typeof value === 'number' || value instanceof Date || Array.isArray(value);

function millis(time: TimeInput | undefined): number {
  if (time === undefined) return Date.now();
  if (typeof time === 'number') return time;
  if (time instanceof Date) return time.getTime();
  const [seconds, nanoseconds] = time as HrTime;
  return seconds * 1_000 + nanoseconds / 1e6;
}
