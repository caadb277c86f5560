/** Spans as OTLP/JSON (opentelemetry-proto, trace/v1): ids in hex, times as decimal strings of nanoseconds. */
import type { Attributes, AttributeValue } from '@opentelemetry/api';
import type { FinishedSpan } from './provider.ts';

export function otlpOf(spans: readonly FinishedSpan[], resource: Attributes): unknown {
  const scopes = new Map<string, FinishedSpan[]>();
  for (const span of spans) {
    const key = JSON.stringify(span.scope);
    scopes.set(key, [...(scopes.get(key) ?? []), span]);
  }
  const scopeSpans = [...scopes.values()].map((each) => ({ scope: each[0]?.scope, spans: each.map(spanOf) }));
  return { resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] };
}

const spanOf = ({
  context,
  parentSpanId,
  name,
  kind,
  startMs,
  endMs,
  attributes,
  events,
  links,
  status,
}: FinishedSpan) => ({
  traceId: context.traceId,
  spanId: context.spanId,
  ...(parentSpanId === undefined ? {} : { parentSpanId }),
  name,
  // OTLP counts from 1 for INTERNAL; the API from 0.
  kind: kind + 1,
  startTimeUnixNano: nanoseconds(startMs),
  endTimeUnixNano: nanoseconds(endMs),
  attributes: attributesOf(attributes),
  events: events.map((event) => ({
    timeUnixNano: nanoseconds(event.atMs),
    name: event.name,
    attributes: attributesOf(event.attributes),
  })),
  links: links.map((link) => ({
    traceId: link.context.traceId,
    spanId: link.context.spanId,
    attributes: attributesOf(link.attributes ?? {}),
  })),
  status: { code: status.code, ...(status.message === undefined ? {} : { message: status.message }) },
});

/** A double does not hold nanoseconds since 1970. */
const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1_000)) * 1_000n);

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]));

function anyValue(value: AttributeValue | null): unknown {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map((each) => anyValue(each ?? null)) } };
  return {};
}
