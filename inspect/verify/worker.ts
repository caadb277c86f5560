/** Entry of a thread of the checker: one task after the other. */
import { parentPort } from 'node:worker_threads';
import { carryOut, type Task } from './verdict.ts';

const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread');
port.on('message', (task: Task) => port.postMessage(carryOut(task)));
