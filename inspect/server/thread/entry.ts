/** Entry of the thread. It gives way to everything else: nobody's work waits for a drawing. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { definitions } from '../../../machines/registry.ts';
import { readRecords } from '../../../pty/transcript/reader.ts';
import { chartOf } from '../../diagrams/chart.ts';
import { placeChart } from '../../diagrams/layout.ts';
import type { Results, ToThread, Work } from './protocol.ts';
import { Recordings } from './recordings.ts';
import { Screens } from './screens.ts';

const niceness = 10;
try {
  setPriority(Number(basename(readlinkSync('/proc/thread-self'))), niceness);
} catch {
  // Then it competes; nothing is wrong for that.
}

const screens = new Screens();
const recordings = new Recordings();

async function done(work: Work, signal: AbortSignal): Promise<Results[Work['do']]> {
  if (work.do === 'chart') return placeChart(chartOf(definitions[work.kind]));
  if (work.do === 'screen') return screens.at(work.dir, work.at, signal);
  if (work.do === 'duration') return durationOf(work.dir, signal);
  if (work.do === 'recording') return recordings.next(work);
  await recordings.close(work.reader);
  return undefined;
}

/** Milliseconds between the begin of a session and the last thing that is known of its output. */
async function durationOf(dir: string, signal: AbortSignal): Promise<number> {
  let atUs = 0;
  for await (const record of readRecords(dir)) {
    if (signal.aborted) break;
    atUs = Math.max(atUs, record.atUs);
  }
  return atUs / 1_000;
}

const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread');
/** What is being worked out; the next is asked for once this one is answered. */
let begun: { readonly id: number; readonly stop: AbortController } | undefined;
port.on('message', (message: ToThread) => {
  if ('abandon' in message) {
    if (begun?.id === message.abandon) begun.stop.abort();
    return;
  }
  const { id, ...work } = message;
  const stop = new AbortController();
  begun = { id, stop };
  done(work as Work, stop.signal).then(
    (result) => port.postMessage({ id, result }),
    (error: unknown) => port.postMessage({ id, failure: error instanceof Error ? error.message : String(error) }),
  );
});
