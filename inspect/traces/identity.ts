/**
 * Which trace and which span a life is. Both follow from the id of the actor, so that what one daemon begins and another
 * one ends is one trace, and a span can name a parent that has not been exported yet.
 */
import { type Context, createContextKey, ROOT_CONTEXT, type SpanContext, TraceFlags, trace } from '@opentelemetry/api';
import { sha256 } from '../../machines/canonical.ts';

export interface Life {
  readonly kind: 'goal' | 'launch' | 'drain';
  /** Of the actor; of a drain also which one of its scope. */
  readonly id: string;
  /** Whom it serves; its spans are in the trace of that life, below it. */
  readonly parent?: Life;
}

const spanIdOf = ({ kind, id }: Life): string => sha256(`custody span ${kind} ${id}`).slice(0, 16);

const rootOf = (life: Life): Life => (life.parent === undefined ? life : rootOf(life.parent));

export function spanContextOf(life: Life): SpanContext {
  const root = rootOf(life);
  const traceId = sha256(`custody trace ${root.kind} ${root.id}`).slice(0, 32);
  return { traceId, spanId: spanIdOf(life), traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

const spanIdKey = createContextKey('custody span id');

/**
 * The context to begin the span of a life in. A provider that cannot be told a span id gives a random one; the span is
 * then in the right trace all the same. A life without a parent is its own: it names itself, and nobody else.
 */
export function contextOf(life: Life): Context {
  const around = trace.setSpanContext(ROOT_CONTEXT, spanContextOf(life.parent ?? life));
  return around.setValue(spanIdKey, spanIdOf(life));
}

export const wantedSpanId = (context: Context): string | undefined => {
  const wanted = context.getValue(spanIdKey);
  return typeof wanted === 'string' ? wanted : undefined;
};
