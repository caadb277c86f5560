import { appendFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { encodeRecord } from '../../pty/transcript/records.ts';
import { eventually } from '../support/eventually.ts';
import { kept, screens, session } from './support/sessions.ts';
import { feed, terminalOf } from './support/terminals.ts';

it('shows what a person would see, as of the last byte that was told', async () => {
  const all = screens();
  const one = session(all);
  const offset = one.say('\x1b]2;my title\x07hello\r\n\x1b[31mworld\x1b[5;3H\x1b[?25l');
  const snapshot = await all.snapshot(one.name);
  expect(snapshot).toMatchObject({ offset, cols: 80, rows: 24, altScreen: false, title: 'my title', lostBytes: 0 });
  expect(snapshot.cursor).toEqual({ x: 2, y: 4, visible: false });
  expect(snapshot.lines.slice(0, 3)).toEqual(['hello', 'world', '']);
  one.say('\x1b[?1049h\x1b[Heditor');
  expect(await all.snapshot(one.name)).toMatchObject({ altScreen: true, lines: expect.arrayContaining(['editor']) });
});

it('gives a viewer a repaint that the following bytes go on from, also in the middle of a character', async () => {
  const all = screens();
  const one = session(all);
  const bytes = Buffer.from('price: 5 \u20ac\r\n\x1b[1mbold');
  one.say(bytes.subarray(0, 10));
  const { offset, repaint } = await all.snapshot(one.name);
  one.say(bytes.subarray(10));
  const viewer = terminalOf({ cols: 80, rows: 24 });
  await feed(viewer, repaint);
  await feed(viewer, bytes.subarray(offset));
  expect(viewer.buffer.active.getLine(0)?.translateToString(true)).toBe('price: 5 \u20ac');
});

it('changes size where the index says so, between the bytes around it', async () => {
  const all = screens();
  const one = session(all);
  one.say('\x1b[99G1\r\n');
  one.resize(20, 5);
  one.say('\x1b[99G2\r\n');
  one.resize(40, 10);
  one.say('\x1b[99G3');
  const { cols, rows, lines } = await all.snapshot(one.name);
  expect({ cols, rows }).toEqual({ cols: 40, rows: 10 });
  expect(lines.filter((line) => line !== '').map((line) => line.length)).toEqual([40, 20, 40]);
});

it('keeps the sessions apart and answers them all while one of them floods', async () => {
  const all = screens();
  const flood = session(all, { name: 'flood' });
  const others = Array.from({ length: 5 }, (_, at) => session(all, { name: `S${at}` }));
  flood.say(Buffer.alloc(8 * 1024 * 1024, 'flood\r\n'));
  for (const other of others) other.say(`I am ${other.name}`);
  const first = await Promise.race([
    all.snapshot(flood.name, { timeoutMs: 60_000 }).then(() => 'flood'),
    Promise.all(others.map(({ name }) => all.snapshot(name))).then((list) => list.map(({ lines }) => lines[0])),
  ]);
  expect(first).toEqual(others.map(({ name }) => `I am ${name}`));
});

it('says that bytes were lost, by the disk or by the cap', async () => {
  const all = screens();
  const one = session(all, { segmentBytes: 1_000, maxBytes: 3_000 });
  for (let at = 0; at < 10; at += 1) one.transcript.append([Buffer.alloc(1_000, '.')]);
  const gap = { kind: 'gap', atUs: 1, offset: 10_000, lostBytes: 500, reason: 'noSpace', errno: 28 } as const;
  appendFileSync(join(one.dir, 'index.jsonl'), encodeRecord(gap));
  one.say('\r\nend');
  const { lostBytes, lines } = await all.snapshot(one.name);
  expect(lostBytes).toBe(8_500);
  expect(lines).toContain('end');
});

it('answers a question that has no answer with an error that has a name', async () => {
  const all = screens();
  const one = session(all);
  one.say('x');
  await expect(all.snapshot('nobody')).rejects.toMatchObject({ code: 'screen_unknown' });
  await expect(all.snapshot(one.name, { atLeast: 2 })).rejects.toMatchObject({ code: 'screen_unreadable' });
  await expect(all.snapshot(one.name, { timeoutMs: 0 })).rejects.toMatchObject({ code: 'screen_late' });
  const waiting = all.waitFor(one.name, { text: 'never' }, { timeoutMs: 60_000 });
  all.close(one.name);
  await expect(waiting).rejects.toMatchObject({ code: 'screen_closed' });
  await expect(all.snapshot(one.name)).rejects.toMatchObject({ code: 'screen_unknown' });
});

it('answers for the terminal only while asked to, and only what the program asks from then on', async () => {
  const replies: string[] = [];
  const all = screens({ onReply: (_session, bytes) => replies.push(bytes) });
  const one = session(all);
  one.say('\x1b[c');
  all.answer(one.name, true);
  one.say('ab\x1b[6n');
  await all.snapshot(one.name);
  all.answer(one.name, false);
  one.say('\x1b[6n');
  await all.snapshot(one.name);
  expect(replies).toEqual(['\x1b[1;3R']);
});

it('answers what was asked before somebody else does, whenever that is rendered, and nothing twice', async () => {
  const replies: string[] = [];
  const all = screens({ onReply: (_session, bytes) => replies.push(bytes) });
  const one = session(all);
  all.answer(one.name, true);
  one.say('a\x1b[6n');
  all.answer(one.name, true);
  const { offset } = one.transcript;
  one.say('b\x1b[6n');
  all.answer(one.name, false, offset);
  one.say('c\x1b[6n');
  await all.snapshot(one.name);
  all.answer(one.name, true);
  one.say('d\x1b[6n');
  await all.snapshot(one.name);
  expect(replies).toEqual(['\x1b[1;2R', '\x1b[1;5R']);
});

it('renders and keeps a screen when it falls idle, and holds no file of it open', async () => {
  const all = screens({ idleMs: 1 });
  const one = session(all);
  await kept(one.dir, one.say('quiet now'));
  one.transcript.close();
  await eventually('no file is open', () => (openFilesIn(one.dir).length === 0 ? true : undefined));
});

function openFilesIn(dir: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(dir) ? [path] : [];
    } catch {
      return [];
    }
  });
}
