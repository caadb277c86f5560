/** Entry of the thread. It gives way to everything else: nobody's work waits for a drawing. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { definitions } from '../../../machines/registry.ts';
import { chartOf } from '../../diagrams/chart.ts';
import { placeChart } from '../../diagrams/layout.ts';
import { Playback } from './playback.ts';
import type { Results, ToThread, Work } from './protocol.ts';

const niceness = 10;
try {
  setPriority(Number(basename(readlinkSync('/proc/thread-self'))), niceness);
} catch {
  // Then it competes; nothing is wrong for that.
}

let playback: Playback | undefined;

/** The recording that was looked at last stays where it is: whoever scrubs asks for what comes next. */
async function screenAt({ dir, at }: Extract<Work, { do: 'screen' }>): Promise<Results['screen']> {
  if (playback === undefined || playback.dir !== dir || playback.isPast(at)) {
    await playback?.close();
    playback = await Playback.open(dir);
  }
  await playback?.to(at);
  return playback?.screen();
}

const done = (work: Work): Promise<Results[Work['do']]> =>
  work.do === 'chart' ? placeChart(chartOf(definitions[work.kind])) : screenAt(work);

const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread');
/** One after the other: they share what was looked at last. */
let last: Promise<unknown> = Promise.resolve();
port.on('message', ({ id, ...work }: ToThread) => {
  last = last
    .then(() => done(work as Work))
    .then(
      (result) => port.postMessage({ id, result }),
      (error: unknown) => port.postMessage({ id, failure: error instanceof Error ? error.message : String(error) }),
    );
});
