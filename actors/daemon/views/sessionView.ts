/** A session as the command line shows it: what is committed, and beside it what the holder of its terminal says now. */
import { acceptableResult, isInterrupted, type SessionSnapshot } from '../../../machines/ptySession.ts';
import type { SessionReport } from '../../../pty/wire/messages.ts';
import { intact } from '../../runtime/actorAccess.ts';
import { transcriptDirOf } from '../../runtime/unrecorded.ts';
import type { SessionView } from '../api/views.ts';
import type { DaemonContext } from '../context.ts';
import { statePath } from './scopeView.ts';

export function sessionView(
  context: Pick<DaemonContext, 'host' | 'places' | 'sessions'>,
  session: SessionSnapshot,
  live: SessionReport | undefined,
): SessionView {
  const { host, places, sessions } = context;
  const { sessionId, runId, scopeId, cols, rows, activity, capture, status, firstFailure, faults } = session.context;
  const run = intact(host, 'run', runId);
  const scope = intact(host, 'executionScope', scopeId);
  const known = scope === 'corrupt' ? undefined : scope?.context;
  const { goalRef = null, label = null } = run === undefined || run === 'corrupt' ? {} : run.context;
  return {
    sessionId,
    runId,
    scopeId,
    goalId: goalRef?.goalId ?? null,
    label,
    workload: statePath(session.value.workload),
    capture: statePath(session.value.capture),
    scope: statePath(session.value.scope),
    cols: live?.cols ?? cols,
    rows: live?.rows ?? rows,
    bytes: live?.bytes ?? capture?.bytes ?? sessions.latestActivity(sessionId)?.bytes ?? activity.bytes,
    quietMs: live?.quietMs ?? null,
    viewers: live?.viewers ?? 0,
    result: status && { how: status.how, code: status.code, signal: status.signal, errno: status.errno },
    structured: acceptableResult(session),
    firstFailure: firstFailure && { cause: firstFailure.cause, reason: firstFailure.reason },
    faults: faults.map(({ cause, reason }) => ({ cause, reason })),
    interrupted: isInterrupted(session),
    missing: session.value.capture === 'unrecorded' ? null : (live?.fault?.reason ?? capture?.fault ?? null),
    transcriptDir: transcriptDirOf(places, sessionId),
    hostSocket: live === undefined ? null : places.ptyHostSocket,
    guardianPid: known?.guardian?.pid ?? null,
    workloadPid: known?.workload?.pid ?? null,
  };
}
