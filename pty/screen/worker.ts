/** Entry of the thread that renders screens. */
import { parentPort } from 'node:worker_threads';
import type { ToWorker } from './protocol.ts';
import { ScreenThread } from './thread.ts';

const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread');
const thread = new ScreenThread((message) => port.postMessage(message));
port.on('message', (order: ToWorker) => thread.take(order));
