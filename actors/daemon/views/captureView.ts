/** What is known of a run's captured output: how much there is, and whether more, or less, may have been written. */
import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { SessionSnapshot } from '../../../machines/ptySession.ts';
import { intact } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { CaptureView } from '../api/views.ts';
import type { Membership } from '../guardianTalk.ts';
import type { OutputDisk } from '../services/outputDisk.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'places' | 'adapter'> & { readonly outputDisk: OutputDisk };

/** Enough to name who holds the output; a tree of thousands is not searched for the sake of a display. */
const membersAsked = 64;

/**
 * A stream is complete when nobody is left who could write to it (ruling 10), and not before: a process without the file
 * may get it from another one, or open it by its name.
 */
export async function captureViews(
  parts: Parts,
  scope: ScopeSnapshot,
  membership?: Membership,
): Promise<readonly CaptureView[]> {
  const { scopeId, slots } = scope.context;
  const session = sessionOf(parts.host, scopeId);
  if (session !== undefined) return [terminalView(session)];
  const isOver = scope.hasTag('capacityReleased');
  const fault = await parts.outputDisk.faultOf(scopeId);
  const isRetired = parts.store.retiredArtifacts.has({ kind: 'executionScope', id: scopeId });
  const views: CaptureView[] = [];
  for (const stream of ['stdout', 'stderr'] as const) {
    const found = await look(join(parts.places.scopesDir, scopeId, `${stream}.log`));
    const neverOpened = found === undefined && slots === null;
    const isThere = found !== undefined || neverOpened;
    const open = isOver ? null : (holder(parts, found, membership) ?? 'the tree is not proved to be gone');
    views.push({
      stream,
      bytes: Number(found?.size ?? 0),
      complete: isOver && isThere && fault === null,
      reason: isThere ? (fault ?? open) : isRetired ? 'removed after its proof, by retention' : 'the file is gone',
    });
  }
  return views;
}

/** The terminal that a scope runs in, if it does; a damaged record hides nothing else (OWN-10). */
export function sessionOf(host: Runtime['host'], scopeId: string): SessionSnapshot | undefined {
  const [first] = host.list('ptySession', { link: { name: 'scopeId', value: scopeId }, limit: 1 });
  const session = first && intact(host, 'ptySession', first.id);
  return session === 'corrupt' ? undefined : session;
}

function terminalView({ value, context: { capture, activity } }: SessionSnapshot): CaptureView {
  const complete = value.capture === 'complete' && capture?.truncated === false;
  const reason = complete ? null : (capture?.fault ?? 'its end has not been read');
  return { stream: 'terminal', bytes: capture?.bytes ?? activity.bytes, complete, reason };
}

async function look(path: string): Promise<BigIntStats | undefined> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found?.isFile() ? found : undefined;
}

function holder(
  { adapter }: Parts,
  file: BigIntStats | undefined,
  membership: Membership | undefined,
): string | undefined {
  let silent: number | undefined;
  for (const { pid, state } of membership?.members.slice(0, membersAsked) ?? []) {
    if (state === 'Z' || file === undefined) continue;
    const holds = adapter.holdsOpen(pid, file);
    if (holds) return `held open by pid ${pid}`;
    if (holds === undefined) silent ??= pid;
  }
  return silent === undefined ? undefined : `perhaps held open by pid ${silent}, which shows nobody its files`;
}
