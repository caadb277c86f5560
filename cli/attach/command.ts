/** sessions attach: somebody's terminal becomes a window on a session, and is theirs again afterwards. */
import type { SessionView } from '../../actors/daemon/api/views.ts';
import { exitStatusOf } from '../exitStatus.ts';
import { usage } from '../failure.ts';
import { type Invocation, localAnswer } from '../invocation.ts';
import type { Answer } from '../output.ts';
import { line } from '../print/escape.ts';
import { type AttachView, attachedLines } from '../print/sessions.ts';
import type { FoundSession } from '../sessionClient.ts';
import { Attachment, type Left } from './attachment.ts';
import { type DetachKeys, defaultDetachKey, parseDetachKeys, wayOut } from './detachKey.ts';
import { ViewerTerminal } from './viewerTerminal.ts';
import { WindowSize } from './windowSize.ts';

export interface AttachFlags {
  readonly readOnly?: boolean;
  readonly detachKey?: DetachKeys;
  /** False with --no-repaint. */
  readonly repaint?: boolean;
  readonly resize?: boolean;
  readonly exitStatus?: boolean;
}

/** 128 and the number of the signal, as shells report it. */
const signals = { SIGHUP: 129, SIGQUIT: 131, SIGTERM: 143 } as const;

export async function attach(invocation: Invocation, flags: AttachFlags, typed: string): Promise<number> {
  const { readOnly = false, detachKey = parseDetachKeys(defaultDetachKey), repaint = true } = flags;
  const terminal = terminalOf(typed, readOnly);
  const options = { readOnly, detachKeys: detachKey, isRepainting: repaint };
  const attachment = new Attachment(terminal, options);
  const found = await attachment.connect(invocation.places, typed);
  const { sessionId } = found;
  // The terminal is given back on the way out of the process; these only make sure that there is one.
  for (const [signal, status] of Object.entries(signals)) process.once(signal, () => process.exit(status));
  const window = flags.resize && !readOnly ? new WindowSize(invocation, attachment, terminal) : undefined;
  if (window === undefined) mentionSize(invocation, found, terminal);
  const leaving = wayOut(detachKey, readOnly);
  if (leaving !== undefined) invocation.output.note(line`${leaving}`);
  terminal.onContinue(() => attachment.begunAgain());
  terminal.take();
  let left: Left;
  try {
    if (window === undefined) terminal.onResize(() => attachment.fit());
    else await window.follow();
    left = await attachment.run();
  } finally {
    terminal.restore();
  }
  if (left.how === 'detached') return answer(invocation, localAnswer('', null), { sessionId, how: 'detached' });
  return ended(invocation, { sessionId, flags, left });
}

/** Throws `usage` where there is no terminal to show it in, or none to type in. */
function terminalOf(typed: string, readOnly: boolean): ViewerTerminal {
  const { stdin, stdout } = process;
  if (stdout.isTTY && (stdin.isTTY || readOnly)) {
    return new ViewerTerminal({ input: stdin.isTTY ? stdin : undefined, output: stdout });
  }
  const missing = stdout.isTTY ? 'standard input' : 'standard output';
  throw usage(`attaching takes a terminal, and ${missing} is none`, [
    ...(stdout.isTTY ? [`custody sessions attach ${typed} --read-only`] : []),
    `custody sessions tail ${typed} --follow`,
    `custody sessions send ${typed} TEXT --enter`,
  ]);
}

/** The session keeps the size that its owner chose; a window of another size shows a part of it. */
function mentionSize({ output }: Invocation, found: FoundSession, terminal: ViewerTerminal): void {
  const { cols = 0, rows = 0 } = found.report ?? {};
  const own = terminal.size;
  if (cols === own.cols && rows === own.rows) return;
  output.note(
    line`session is ${cols}x${rows}, this terminal ${own.cols}x${own.rows}; --resize gives the session this size`,
  );
}

/** How long the daemon may take to learn what the terminal has told already. */
const settleMs = 30_000;

async function ended(
  invocation: Invocation,
  { sessionId, flags, left }: { sessionId: string; flags: AttachFlags; left: Left & { readonly how: 'ended' } },
): Promise<number> {
  const { complete, reason } = left.end;
  if (!complete) invocation.output.note(line`its output is not complete: ${reason ?? 'unknown'}`);
  try {
    const until = { kind: 'exit' } as const;
    const known = await invocation.call('sessions.wait', { id: sessionId, until, waitMs: settleMs });
    const exitCode = answer(invocation, known, { sessionId, how: 'ended', session: known.data });
    return flags.exitStatus ? exitStatusOf(known.data) : exitCode;
  } catch (error) {
    if (flags.exitStatus) throw error;
    const { message } = error as Error;
    invocation.output.note(line`how its work ended cannot be told: ${message}`);
    return answer(invocation, localAnswer('', null), { sessionId, how: 'ended' });
  }
}

function answer(invocation: Invocation, from: Answer<SessionView | null>, view: AttachView): number {
  return invocation.output.answer({ ...from, command: 'sessions.attach', data: view }, attachedLines, () => [
    view.sessionId,
  ]);
}
