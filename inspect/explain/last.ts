/** What happened last, as the journal has it; a damaged entry is said to be damaged. */
import type { HostedEnvelope } from '../../actors/host/outcome.ts';
import type { ActorKind } from '../../machines/ids.ts';
import { evidenceOf } from './evidence.ts';
import type { Explanation } from './explanation.ts';
import type { ExplainSource } from './source.ts';
import { inWords } from './words.ts';

export function lastOf(source: ExplainSource, kind: ActorKind, id: string): Explanation['last'] {
  const [entry] = source.journal.page({ actor: { kind, id }, newestFirst: true, limit: 1 });
  if (entry === undefined) return null;
  const { position } = entry;
  if (!entry.intact)
    return { position, at: null, sentence: `Last came entry ${position} of the journal, which is damaged.` };
  const { at, producer, payload } = entry.envelope as HostedEnvelope;
  const time = timeOf(at.wallMs);
  const changed = entry.outcome === 'noop' ? '; it changed nothing' : '';
  return {
    position,
    at: time,
    sentence: `Last came ${evidenceOf(entry.type).what} (${entry.type}${codesIn(payload)}) from ${producer.kind}${time === null ? '' : `, at ${time}`}${changed}.`,
  };
}

/** Wall time may be anything that a clock once said. */
export function timeOf(wallMs: number): string | null {
  const time = new Date(wallMs);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** Of what an event brought only words of the program itself, never a text. */
const telling = ['cause', 'reason', 'reasonCode', 'result', 'how', 'verdict', 'outcome', 'kind', 'to', 'phase'];
const code = /^[A-Za-z][A-Za-z0-9_]{0,47}$/;

function codesIn(payload: Readonly<Record<string, unknown>>): string {
  const codes = telling.map((field) => payload[field]).filter((value) => typeof value === 'string' && code.test(value));
  return codes.length === 0 ? '' : `: ${codes.map((value) => inWords(String(value))).join(', ')}`;
}
