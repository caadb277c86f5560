#!/usr/bin/env node
/**
 * The scheduling worker's entry module: launched by the daemon under a guardian, with its launch context on standard
 * input. What its environment says about targets, sockets or tokens is not looked at (WRK-04).
 */
import { readFileSync } from 'node:fs';
import { workerContextSchema } from '../actors/worker/messages.ts';
import { startWorker } from '../actors/worker/worker.ts';

/** EX_NOINPUT and EX_NOPERM (sysexits.h): there is no such context, or the daemon does not want this worker. */
const noContext = 66;
const unwanted = 77;

function contextOnInput(): ReturnType<typeof workerContextSchema.safeParse> | undefined {
  try {
    return workerContextSchema.safeParse(JSON.parse(readFileSync(0, 'utf8')));
  } catch {
    return undefined;
  }
}

process.umask(0o077);
const context = contextOnInput();
if (context?.success !== true) {
  process.stderr.write('custody: a worker is started by the daemon, with its launch context on standard input\n');
  process.exit(noContext);
}
const worker = startWorker(context.data);
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    worker.close();
    process.exit(0);
  });
}
void worker.dismissed.then((code) => {
  process.stderr.write(`custody: the daemon has no use for this worker: ${code}\n`);
  process.exit(unwanted);
});
