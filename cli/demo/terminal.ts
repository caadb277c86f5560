/** The agent's terminal: what it shows, asked of the daemon, and what is typed into it. */
import { eventually, expectThat } from './expectation.ts';
import type { Stage } from './stage.ts';
import type { Picture, Viewer } from './viewer.ts';

/** Of a usual window. */
export const size = { cols: 80, rows: 24 } as const;

const answerWithinMs = 20_000;

/** Waits until the agent asks, then shows the screen. */
export async function screenAsking(stage: Stage, sessionId: string, question: string): Promise<Picture> {
  const { installation, narrator, interruption } = stage;
  narrator.command('custody', 'sessions', 'wait', sessionId, '--for', question);
  const until = { kind: 'text', text: question } as const;
  await installation.call('sessions.wait', { id: sessionId, until, waitMs: answerWithinMs });
  narrator.command('custody', 'sessions', 'screen', sessionId);
  let picture = await pictureOf(stage, sessionId);
  await eventually(interruption.signal, `the agent asks: ${question}`, async () => {
    if (isAsking(picture, question)) return true;
    picture = await pictureOf(stage, sessionId);
    return false;
  });
  show(stage, picture.rows);
  return picture;
}

/** To the last blank before the answer: a screen without it is still on its way, and two of them may differ. */
export function isAsking({ rows, cursor }: Picture, question: string): boolean {
  const prompt = `asks: ${question}`;
  return rows[cursor.y] === prompt && cursor.x === prompt.length + 1;
}

export async function pictureOf({ installation }: Stage, id: string): Promise<Picture> {
  const { lines, rows, cursor } = await installation.call('sessions.screen', { id });
  const { x, y } = cursor;
  return { rows: Array.from({ length: rows }, (_, row) => (lines[row] ?? '').trimEnd()), cursor: { x, y } };
}

export async function send({ installation, narrator }: Stage, sessionId: string, text: string): Promise<void> {
  narrator.command('custody', 'sessions', 'send', sessionId, text, '--enter');
  const bytes = Buffer.from(text).toString('base64');
  await installation.call('sessions.send', { id: sessionId, bytes, paste: 'auto', enter: true });
}

/** Rows as they stand, without the blank ones. */
export function show({ narrator }: Stage, rows: readonly string[]): void {
  for (const row of rows) if (row !== '') narrator.quote(row);
}

/** What follows `word` on the screen. */
export function said({ rows }: Picture, word: string): string {
  const row = rows.find((text) => text.startsWith(`${word}: `));
  expectThat(row !== undefined, `the screen has a line that begins with "${word}"`, rows);
  return row.slice(word.length + 2);
}

/** Resolves when the viewer's terminal shows that very picture, row by row, with the cursor in its place. */
export async function expectSame(viewer: Viewer, { rows, cursor }: Picture): Promise<void> {
  const isSame = (shown: Picture) =>
    shown.cursor.x === cursor.x && shown.cursor.y === cursor.y && rows.every((row, at) => shown.rows[at] === row);
  await viewer.until(`viewer ${viewer.pid} shows the whole screen`, isSame);
}
