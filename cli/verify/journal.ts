/** The check behind `custody verify --journal`: a journal as it was written, from an installation or from a file. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { JournalCheck, type JournaledEvent, type JournalReport } from '../../inspect/verify/journal.ts';
import { readJournal } from '../../persistence/journalReading.ts';
import type { JournalEntry } from '../../persistence/tables/journal.ts';
import { usage } from '../failure.ts';
import { localAnswer } from '../invocation.ts';
import type { Output } from '../output.ts';
import { requireOwn } from '../ownership.ts';
import { journalLines } from '../print/verify.ts';

/** Returns the exit status: 1 where the journal breaks an invariant, or does not do again what it did. */
export async function runVerifyJournal(output: Output, stateDir: string, file: string | undefined): Promise<number> {
  const report = file === undefined ? ofInstallation(stateDir) : await ofFile(file);
  return output.answer(localAnswer('verify', report, report.findings.length === 0 ? 0 : 1), journalLines);
}

/** Reading changes nothing, and a daemon may be writing meanwhile. */
function ofInstallation(stateDir: string): JournalReport {
  requireOwn(stateDir);
  const check = new JournalCheck();
  for (const entry of readJournal(stateDir)) {
    if (entry.intact) check.take(rowEvent(entry));
    else check.damaged(entry.actor);
  }
  return check.end();
}

interface Envelope {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly basis?: unknown;
  readonly causationId?: string;
  readonly at: { readonly wallMs: number; readonly monoMs: number };
}

function rowEvent(entry: Extract<JournalEntry, { intact: true }>): JournaledEvent {
  const { position, actor, eventId, type, outcome, version } = entry;
  const { payload, basis = null, causationId, at } = entry.envelope as Envelope;
  const instant = `${at.wallMs} ${at.monoMs}`;
  return { position, actor, eventId, type, outcome, version, payload, basis, causationId, instant };
}

/** What `custody events --json` prints: one answer, or with `--follow` one event a line. */
async function ofFile(file: string): Promise<JournalReport> {
  const check = new JournalCheck();
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    for await (const text of lines) if (text.trim() !== '') for (const event of eventsIn(text, file)) check.take(event);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === undefined) throw thrown;
    throw unreadable(file, (thrown as Error).message);
  }
  return check.end();
}

function eventsIn(text: string, file: string): readonly JournaledEvent[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable(file, 'it holds a line that is no JSON');
  }
  const answer = value as { readonly data?: { readonly events?: readonly unknown[] } };
  return (answer.data?.events ?? [value]).map((event) => {
    if (!isListed(event)) throw unreadable(file, 'it holds something that is no event');
    // A listing does not say which events were committed together, so each is taken by itself.
    return { ...event, instant: `${event.wallMs}` };
  });
}

function isListed(value: unknown): value is Omit<JournaledEvent, 'instant'> & { readonly wallMs: number } {
  const event = value as Partial<JournaledEvent> & { readonly wallMs?: unknown };
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof event.position === 'number' &&
    typeof event.version === 'number' &&
    typeof event.type === 'string' &&
    typeof event.eventId === 'string' &&
    typeof event.actor?.kind === 'string' &&
    typeof event.actor.id === 'string' &&
    typeof event.payload === 'object' &&
    typeof event.wallMs === 'number' &&
    (event.outcome === 'changed' || event.outcome === 'noop')
  );
}

const unreadable = (file: string, why: string) =>
  usage(`${file} is no listing of events: ${why}`, ['custody events --json > events.json']);
