/** Judges what somebody sees of a session through a window of another size, cell by cell. */
import type headless from '@xterm/headless';
import { placesOf } from '../../../actors/runtime/places.ts';
import { connectToHost, type HostConnection } from '../../../cli/sessionClient.ts';
import { sgr, urlId } from '../../../pty/screen/attributes.ts';
import { type Cell, innerOf } from '../../../pty/screen/internals.ts';
import { createEmulator } from '../../../pty/transcript/emulator.ts';
import { eventually } from '../../support/eventually.ts';
import { patienceMs } from '../../support/patience.ts';
import type { Size, TestTerminal } from '../../support/terminal.ts';
import type { Sessions } from '../../support/terminalSessions.ts';

async function withHost<T>(own: Sessions, use: (client: HostConnection['client']) => Promise<T>): Promise<T> {
  const { stateDir } = own.daemon.home;
  const host = await connectToHost(placesOf({ stateDir, env: own.env }));
  if (host === undefined) throw new Error('nobody holds the terminals');
  try {
    return await use(host.client);
  } finally {
    host.client.close();
  }
}

/** The session's own screen, as its holder renders it. */
function screenOf(own: Sessions, sessionId: string): Promise<headless.Terminal> {
  return withHost(own, async (client) => {
    const screen = (await client.ask({ do: 'screen', sessionId }, patienceMs)) as Size & { readonly repaint: string };
    const terminal = createEmulator({ cols: screen.cols, rows: screen.rows, scrollback: 1_000 });
    await new Promise<void>((resolve) => terminal.write(Buffer.from(screen.repaint, 'base64'), resolve));
    return terminal;
  });
}

/** Resolves when the session has been silent for `quietMs`. */
export function quiet(own: Sessions, sessionId: string, quietMs = 300): Promise<unknown> {
  const until = { kind: 'quiet', quietMs } as const;
  return withHost(own, (client) => client.ask({ do: 'wait', sessionId, until, withinMs: patienceMs }, 2 * patienceMs));
}

export function resizeSession(own: Sessions, sessionId: string, { cols, rows }: Size): Promise<unknown> {
  return withHost(own, (client) => client.ask({ do: 'resize', sessionId, cols, rows }));
}

/**
 * Waits until the session is silent and the viewer sees its screen, as much of it as the window holds. What was typed may
 * not have been heard when the silence began, so both are looked at until they agree.
 */
export async function seesAll(own: Sessions, sessionId: string, terminal: TestTerminal): Promise<void> {
  let found: string[] = [];
  try {
    await eventually('the part of the screen where the cursor is', async () => {
      await quiet(own, sessionId);
      found = differences(terminal.emulator, await screenOf(own, sessionId));
      return found.length === 0 ? true : undefined;
    });
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${found.slice(0, 20).join('\n')}\n${terminal.lines.join('\n')}`);
  }
}

/** The cursor tells which part it is: it must be in it, at the same character. */
export function differences(window: headless.Terminal, session: headless.Terminal): string[] {
  const hasStatus = window.rows > session.rows || (window.rows < session.rows && window.rows > 3);
  const rows = window.rows - (hasStatus ? 1 : 0);
  const part = { cols: Math.min(window.cols, session.cols), rows: Math.min(rows, session.rows) };
  const own = session.buffer.active;
  const left = Math.min(own.cursorX, session.cols - 1) - Math.min(window.buffer.active.cursorX, window.cols - 1);
  const top = own.cursorY - window.buffer.active.cursorY;
  const found: string[] = [];
  if (left < 0 || left > session.cols - part.cols) found.push(`begins at column ${left}`);
  if (top < 0 || top > session.rows - part.rows) found.push(`begins at row ${top}`);
  if (isHidden(window) !== isHidden(session)) found.push(`the cursor is ${isHidden(window) ? 'hidden' : 'visible'}`);
  for (let row = 0; row < rows; row += 1) {
    const expected = row < part.rows ? cells(session, { row: top + row, from: left, to: left + part.cols }) : [];
    const seen = cells(window, { row, from: 0, to: window.cols });
    for (let column = 0; column < window.cols; column += 1) {
      const wanted = row < part.rows && column < part.cols ? expected[column] : '· [0;2m';
      if (!isSame(seen[column], wanted))
        found.push(`row ${row} column ${column}: ${seen[column]} instead of ${wanted}`);
    }
  }
  return found;
}

const isHidden = (terminal: headless.Terminal): boolean => innerOf(terminal).coreService.isCursorHidden;

/** By column: the character and its look. Half a wide character is a blank. */
function cells(
  terminal: headless.Terminal,
  { row, from, to }: { readonly row: number; readonly from: number; readonly to: number },
): string[] {
  const { active } = terminal.buffer;
  const line = active.getLine(active.baseY + row);
  const all: string[] = [];
  for (let column = 0; column < terminal.cols; ) {
    const cell = line?.getCell(column) as Cell | undefined;
    const chars = cell?.getChars() ?? '';
    const width = chars === '' ? 1 : Math.max(1, cell?.getWidth() ?? 1);
    const isCut = column < from || column + width > to;
    const look = cell === undefined ? '' : `${lookOf(cell)}${linkOf(cell, terminal)}`;
    const shown = look.replaceAll('\x1b', '');
    for (let at = 0; at < width; at += 1) {
      all.push(`${isCut || chars === '' ? ' ' : at === 0 ? chars : 'and on'} ${shown}`);
    }
    column += width;
  }
  return all.slice(from, to);
}

/** Where a link leads is forgotten with the row where it was first, though other rows still have it. */
const forgotten = ' link';

function linkOf(cell: Cell, terminal: headless.Terminal): string {
  if (urlId(cell) === 0) return '';
  const link = innerOf(terminal)._oscLinkService.getLinkData(urlId(cell));
  return link === undefined ? forgotten : `${forgotten} ${link.id ?? ''} ${link.uri}`;
}

function isSame(one: string | undefined, other: string | undefined): boolean {
  if (one === other || one === undefined || other === undefined) return one === other;
  const isForgotten = one.endsWith(forgotten) || other.endsWith(forgotten);
  return isForgotten && one.split(forgotten)[0] === other.split(forgotten)[0];
}

/** The colour of a line that is not there cannot be seen. */
function lookOf(cell: Cell): string {
  const look = sgr(cell);
  return /;4[:;m]/.test(look) ? look : look.replace(/;58:[^;m]*/, '').replace('[0m', '[m');
}
