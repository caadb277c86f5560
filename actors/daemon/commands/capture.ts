/** Calls that answer with what a run has printed: as evidence beside its end, or as the value that it was meant to be. */
import { join } from 'node:path';
import { isLeftToResidents } from '../../../machines/assessment.ts';
import { isCaptureOver } from '../../../machines/ptySession.ts';
import { IncompleteCaptureError, readCapture, requireCompleteCapture } from '../../../pty/launch/captureReading.ts';
import { resolveRun } from '../../ingest/namedRuns.ts';
import { required } from '../../runtime/actorAccess.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { CaptureView } from '../api/views.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { captureViews, sessionOf } from '../views/captureView.ts';
import { rootScopeOf } from '../views/runView.ts';
import { capturedScope } from './logs.ts';
import { waitForRun } from './runs.ts';
import { reached } from './waiting.ts';

/**
 * The end of a run with what is known of its output (CAP-01). The tree mostly goes with its root; it has finalDrainMs
 * for that, because an output that is called incomplete while the proof is being written helps nobody.
 */
export async function waitForCapturedRun(
  context: DaemonContext,
  args: ParsedArguments<'runs.wait'>,
  signal: AbortSignal,
): Promise<Answer<CallResults['runs.wait']>> {
  const runId = resolveRun(context.store, args.id);
  const ended = await waitForRun(context, { ...args, id: runId }, signal);
  const scope = rootScopeOf(context, required(context.host, 'run', runId));
  if (scope === undefined) return { ...ended, data: { ...ended.data, capture: [] } };
  const { scopeId } = scope.context;
  const { finalDrainMs, captureJoinMs } = context.config;
  const waitMs = Math.min(finalDrainMs, captureJoinMs);
  const isReached = (now: typeof scope) => now.hasTag('capacityReleased') || isLeftToResidents(now);
  const wasLeft = !(await reached(context, ['executionScope', scopeId], { waitMs, signal, isReached }));
  await terminalEnd(context, scopeId, signal);
  // What went meanwhile is said as it is now.
  const data = wasLeft ? ended.data : (await waitForRun(context, { ...args, id: runId, waitMs: 0 }, signal)).data;
  return { ...ended, data: { ...data, capture: await capturesOf(context, scopeId) } };
}

/** Once nobody is left, the end of a terminal is on its way to the transcript, whenever the run has ended. */
async function terminalEnd(context: DaemonContext, scopeId: string, signal: AbortSignal): Promise<void> {
  const session = sessionOf(context.host, scopeId);
  if (session === undefined || !required(context.host, 'executionScope', scopeId).hasTag('capacityReleased')) return;
  const waitMs = context.config.captureJoinMs;
  await reached(context, ['ptySession', session.context.sessionId], { waitMs, signal, isReached: isCaptureOver });
}

async function capturesOf(context: DaemonContext, scopeId: string): Promise<readonly CaptureView[]> {
  const scope = required(context.host, 'executionScope', scopeId);
  const membership = scope.hasTag('capacityReleased') ? undefined : await context.guardians.members(scopeId);
  return captureViews(context, scope, membership);
}

/** One stream of a run as one JSON value. Throws `capture_incomplete` or `result_invalid` (exit 13); nothing is parsed then. */
export async function runResult(
  context: DaemonContext,
  args: ParsedArguments<'runs.result'>,
): Promise<Answer<CallResults['runs.result']>> {
  const runId = resolveRun(context.store, args.id);
  const scopeId = capturedScope(context, runId);
  const known = (await capturesOf(context, scopeId)).find(({ stream }) => stream === args.stream)!;
  const reading = await readCapture({
    path: join(context.places.scopesDir, scopeId, `${args.stream}.log`),
    known,
    limitBytes: context.config.captureMemoryBytes,
  });
  try {
    const text = requireCompleteCapture(reading).toString('utf8');
    return { data: { runId, stream: args.stream, bytes: reading.bytes.length, value: JSON.parse(text) as unknown } };
  } catch (error) {
    throw refusalOf(error, { runId, stream: args.stream });
  }
}

function refusalOf(error: unknown, { runId, stream }: { runId: string; stream: string }): unknown {
  const look = `custody runs logs ${runId} --stream ${stream}`;
  if (error instanceof IncompleteCaptureError)
    return new OperatingError({
      code: error.code,
      message: `${runId}: ${error.message}`,
      exitCode: 13,
      next: [`custody runs wait ${runId} --until proved`, look],
      details: { stream, reason: error.reason },
    });
  if (!(error instanceof SyntaxError)) return error;
  // The parser quotes what it read, which may be anything; a reply shows output only where that was asked for.
  const message = `the ${stream} of ${runId} is not one JSON value`;
  return new OperatingError({ code: 'result_invalid', message, exitCode: 13, next: [look] });
}
