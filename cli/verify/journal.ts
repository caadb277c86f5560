/** The check behind `custody verify --journal`: a journal as it was written, from an installation or from a file. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { JournalCheck, type JournaledEvent, type JournalReport, Wholeness } from '../../inspect/verify/journal.ts';
import { readJournal } from '../../persistence/journalReading.ts';
import type { JournalEntry } from '../../persistence/tables/journal.ts';
import { usage } from '../failure.ts';
import { localAnswer } from '../invocation.ts';
import type { Output } from '../output.ts';
import { requireOwn } from '../ownership.ts';
import { journalLines } from '../print/verify.ts';

/** Section F: done, but something about it stays unproved; and a record that cannot be trusted. */
const [nothingReplayed, untrusted] = [5, 9];

/** Returns the exit status: 1 where the journal breaks an invariant, or does not do again what it did. */
export async function runVerifyJournal(output: Output, stateDir: string, file: string | undefined): Promise<number> {
  const report = file === undefined ? ofInstallation(stateDir) : await ofFile(file);
  return output.answer(localAnswer('verify', report, statusOf(report)), journalLines);
}

function statusOf({ findings, damaged, replayed }: JournalReport): number {
  if (findings.length > 0) return 1;
  if (damaged > 0) return untrusted;
  return replayed === 0 ? nothingReplayed : 0;
}

/** Reading changes nothing, and a daemon may be writing meanwhile: who comes between the two readings is whole. */
function ofInstallation(stateDir: string): JournalReport {
  requireOwn(stateDir);
  const whole = new Wholeness();
  for (const entry of readJournal(stateDir)) {
    if (entry.intact) whole.note(rowEvent(entry));
    else whole.damaged(entry.actor);
  }
  const check = new JournalCheck(whole);
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
  const read = await twice(file);
  const whole = new Wholeness();
  for await (const event of read()) whole.note(event);
  const check = new JournalCheck(whole);
  for await (const event of read()) check.take(event);
  return check.end();
}

/** What comes through a pipe comes once, so it is kept. */
async function twice(file: string): Promise<() => AsyncIterable<JournaledEvent> | Iterable<JournaledEvent>> {
  const isFile = await stat(file).then(
    (status) => status.isFile(),
    () => true,
  );
  if (isFile) return () => eventsOf(file);
  const kept: JournaledEvent[] = [];
  for await (const event of eventsOf(file)) kept.push(event);
  return () => kept;
}

async function* eventsOf(file: string): AsyncGenerator<JournaledEvent, void, undefined> {
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  let isListing = false;
  try {
    for await (const text of lines) {
      if (text.trim() === '') continue;
      isListing = true;
      yield* eventsIn(text, file);
    }
  } catch (thrown) {
    const isOfSystem = !(thrown instanceof OperatingError) && (thrown as NodeJS.ErrnoException).code !== undefined;
    throw isOfSystem ? unreadable(file, (thrown as Error).message) : thrown;
  }
  if (!isListing) throw unreadable(file, 'it is empty');
}

function eventsIn(text: string, file: string): readonly JournaledEvent[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable(file, 'it holds a line that is no JSON');
  }
  const { events = [value] } = (value as { readonly data?: { readonly events?: unknown } } | null)?.data ?? {};
  if (!Array.isArray(events)) throw unreadable(file, 'it holds something that is no event');
  return events.map((event: unknown) => {
    if (!isListed(event)) throw unreadable(file, 'it holds something that is no event');
    // A listing does not say which events were committed together, so each is taken by itself.
    return { ...event, instant: `${event.wallMs}` };
  });
}

function isListed(value: unknown): value is Omit<JournaledEvent, 'instant'> & { readonly wallMs: number } {
  if (typeof value !== 'object' || value === null) return false;
  const event = value as Partial<JournaledEvent> & { readonly wallMs?: unknown };
  return (
    typeof event.position === 'number' &&
    typeof event.version === 'number' &&
    typeof event.type === 'string' &&
    typeof event.eventId === 'string' &&
    typeof event.actor?.kind === 'string' &&
    typeof event.actor.id === 'string' &&
    typeof event.payload === 'object' &&
    event.payload !== null &&
    typeof event.wallMs === 'number' &&
    (event.outcome === 'changed' || event.outcome === 'noop')
  );
}

const unreadable = (file: string, why: string) =>
  usage(`${file} is no listing of events: ${why}`, ['custody events --json --since 0 --limit 1000 > events.json']);
