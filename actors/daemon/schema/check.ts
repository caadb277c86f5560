/** What an agent has reported, compared with the JSON Schema that its launch asked for, in a thread that may hang. */
import { Worker } from 'node:worker_threads';

/** Both as JSON texts: what is nested deeply enough cannot be handed to a thread as a value. */
export interface Question {
  readonly schema: string;
  /** Absent when only the schema is asked about. */
  readonly value?: string;
}

export type Verdict =
  | { readonly is: 'valid' }
  /** `message` names the place and the rule, never the value. */
  | { readonly is: 'invalid'; readonly message: string }
  | { readonly is: 'unusable'; readonly message: string }
  /** It took longer than anything that means well, or more memory, or refers to itself for ever. */
  | { readonly is: 'endless'; readonly message: string };

/** A thousand times what the largest value that is taken needs; without it a pattern would never let go of its thread. */
const checkMs = 5_000;
const memory = { maxOldGenerationSizeMb: 256 };

/** Rejects when no thread can be had; what that thread is given can not make it so. */
export function checkAgainstSchema(program: string, question: Question): Promise<Verdict> {
  const worker = new Worker(program, {
    workerData: question,
    resourceLimits: memory,
    env: {},
    stdout: true,
    stderr: true,
  });
  return new Promise<Verdict>((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    worker.on('message', (said: 'ready' | Verdict) => {
      if (said !== 'ready') resolve(said);
      // A busy machine may take its time to start a thread; only the check itself is bounded.
      else timer = setTimeout(() => resolve({ is: 'endless', message: `not done after ${checkMs} ms` }), checkMs);
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve({ is: 'endless', message: 'it takes too much memory' });
      else reject(error);
    });
    worker.on('exit', () => {
      clearTimeout(timer);
      reject(new Error('the thread ended without a verdict'));
    });
  }).finally(() => worker.terminate());
}
