/**
 * Entry of the thread that renders screens. It gives way to the bytes themselves: rendering takes ten times as long as
 * moving them, and on a machine with few cores would take the time of the program that writes them.
 */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';
import type { ToWorker } from './protocol.ts';
import { ScreenThread } from './thread.ts';

/** Linux has a nice value for each thread (setpriority(2), NOTES); a thread reads its own id in proc_thread-self(5). */
const niceness = 10;
try {
  setPriority(Number(basename(readlinkSync('/proc/thread-self'))), niceness);
} catch {
  // Then it competes; nothing is wrong for that.
}

const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread');
const thread = new ScreenThread((message) => port.postMessage(message));
port.on('message', (order: ToWorker) => thread.take(order));
