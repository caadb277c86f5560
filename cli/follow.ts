/** The output of a run as it grows: the workload's bytes to the same two streams, or JSON lines. */
import type { StreamArguments } from '../actors/daemon/api/contract.ts';
import type { CallResults } from '../actors/daemon/api/results.ts';
import type { CaptureView } from '../actors/daemon/api/views.ts';
import { daemonGone } from './failure.ts';
import type { Invocation } from './invocation.ts';
import type { Answer } from './output.ts';
import { line } from './print/escape.ts';
import { spaced } from './print/words.ts';

type LogLine =
  | { readonly stream: 'stdout' | 'stderr'; readonly data: string }
  | { readonly end: readonly CaptureView[] };

/** Prints until the stream's end and returns what is known about its completeness. Throws `daemon_gone` if it breaks. */
export async function printLogs(
  invocation: Invocation,
  args: StreamArguments<'runs.logs'>,
): Promise<readonly CaptureView[]> {
  const { output } = invocation;
  for await (const entry of invocation.stream<LogLine>('runs.logs', args)) {
    if (output.json) output.record(entry);
    if ('end' in entry) return entry.end;
    if (!output.json) await output.bytes(entry.stream, Buffer.from(entry.data, 'base64'));
  }
  throw daemonGone(undefined);
}

/** A stream that is not complete must never look complete, even to somebody who reads only the bytes. */
export function mentionIncomplete({ output }: Invocation, captures: readonly CaptureView[]): void {
  for (const { stream, complete, reason } of captures) {
    if (!complete) output.note(line`${stream} is not complete: ${spaced(reason ?? 'the run goes on')}`);
  }
}

/** Follows, then asks what became of the run; the answer is printed only as JSON (the last line). */
export async function followRun(
  invocation: Invocation,
  runId: string,
  until: 'ended' | 'proved',
): Promise<Answer<CallResults['runs.wait']>> {
  mentionIncomplete(invocation, await printLogs(invocation, { id: runId, stream: 'both', follow: true, until }));
  const ended = await invocation.call('runs.wait', { id: runId, until: 'ended' });
  if (invocation.output.json) invocation.output.answer(ended, () => []);
  return ended;
}
