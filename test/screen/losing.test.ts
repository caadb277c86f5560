import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { bundled } from '../persistence/support/children.ts';
import { kept, screens, session } from './support/sessions.ts';

let workerPath = '';
beforeAll(() => {
  workerPath = bundled('test/screen/fixtures/dyingWorker.ts', `dyingWorker-${process.pid}`);
});

it('rebuilds every screen when its thread dies, and answers the question that was open', async () => {
  const losses: Error[] = [];
  const all = screens({ workerPath, onThreadLost: (error) => losses.push(error) });
  const one = session(all, { name: 'S1' });
  const two = session(all, { name: 'S2' });
  one.say('first\r\n');
  two.say('second\r\n');
  await all.snapshot(one.name);
  all.answer(two.name, true);
  expect((await all.snapshot(one.name)).lines[0]).toBe('first');
  expect((await all.snapshot(two.name)).lines[0]).toBe('second');
  expect(losses).toHaveLength(1);
});

it('gives up a question that kills one thread after the other, and answers the others', async () => {
  const all = screens({ workerPath });
  const poison = session(all, { name: 'poison' });
  const other = session(all, { name: 'other' });
  poison.say('x');
  other.say('fine');
  await expect(all.snapshot(poison.name)).rejects.toMatchObject({ code: 'screen_thread_lost' });
  expect((await all.snapshot(other.name)).lines[0]).toBe('fine');
});

it('goes on from a checkpoint, reading only what came after it', async () => {
  const all = screens({ idleMs: 1 });
  const one = session(all, { segmentBytes: 1_000 });
  // The size first: it is part of what is kept at that offset.
  one.resize(70, 20);
  await kept(one.dir, one.say('from the checkpoint\r\n'.padEnd(1_500, '\x1b[m')));
  expect(statSync(join(one.dir, 'checkpoint')).mode & 0o777).toBe(0o600);
  const again = screens();
  // Nobody can read what lies before: what is shown of it comes from the checkpoint.
  writeFileSync(join(one.dir, 'raw.000001'), 'ZZZZ');
  one.transcript.append([Buffer.from('after')]);
  again.open('S1', { dir: one.dir, segmentBytes: 1_000, cols: 80, rows: 24, offset: one.transcript.offset });
  const { lines, cols, rows } = await again.snapshot('S1');
  expect({ cols, rows, lines: lines.slice(0, 2) }).toEqual({
    cols: 70,
    rows: 20,
    lines: ['from the checkpoint', 'after'],
  });
});

it.each([
  ['cut short', (bytes: Buffer) => bytes.subarray(0, -3)],
  ['changed', (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -1), Buffer.from('!')])],
  [
    'of a newer version',
    (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace('"version":1', '"version":2'), 'latin1'),
  ],
  ['something else', () => Buffer.from('{}')],
])('renders from the first byte when the checkpoint is %s', async (_name, damage) => {
  const all = screens({ idleMs: 1 });
  const one = session(all);
  await kept(one.dir, one.say('everything is here'));
  await all.dispose();
  const path = join(one.dir, 'checkpoint');
  writeFileSync(path, damage(readFileSync(path)));
  const again = screens();
  again.open('S1', { dir: one.dir, segmentBytes: 1024 * 1024, cols: 80, rows: 24, offset: one.transcript.offset });
  expect((await again.snapshot('S1')).lines[0]).toBe('everything is here');
});

it('starts no thread before somebody needs a screen, and none for a hint', async () => {
  const all = screens({ workerPath: join('nowhere', 'at-all.mjs'), idleMs: 3_600_000 });
  const one = session(all);
  one.say('x');
  expect(existsSync(join(one.dir, 'checkpoint'))).toBe(false);
  await expect(all.snapshot(one.name)).rejects.toThrow();
});
