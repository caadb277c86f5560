/** `custody/note`, as a launcher that is written for Node imports it: from the built bundle. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import * as adapter from '../../pty/note/adapter.ts';
import type * as published from '../../pty/note/note.d.ts';
import { patienceMs } from '../support/patience.ts';
import { client, type Launcher, launcher } from './support/client.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const bundle = join(root, 'dist', 'note.js');
const { createNotes } = (await import(pathToFileURL(bundle).href)) as typeof published;

/** Does not compile when the published types and the real ones part. */
const asPublished: typeof published.createNotes = adapter.createNotes;
const asWritten: typeof adapter.createNotes = createNotes;

const notesOf = (own: Launcher) => createNotes({ producer: 'node', stateDir: own.stateDir, waitMs: patienceMs });

it('says the four things in the order of the calls (INT-04)', () => {
  const own = launcher(undefined, 'node');
  const notes = notesOf(own);
  const told = [
    notes.reserve('r', { worktree: own.dir, label: '--strict', retryOf: 'q' }),
    notes.bind('r'),
    notes.bind('r', { pid: process.ppid, worktree: own.dir }),
    notes.place('r', own.dir),
    notes.exit('r', { code: 3, signal: null }),
    notes.exit('r', { code: null, signal: 'SIGTERM' }),
    notes.exit('r', { signal: 9 }),
  ];
  expect(told).toEqual(told.map(() => ({ told: true })));
  expect(own.notes()).toMatchObject([
    { type: 'run.reserve', label: '--strict', retryOf: 'q', place: { path: own.dir } },
    { type: 'run.bind', process: { pid: process.pid } },
    { type: 'run.bind', process: { pid: process.ppid }, place: { path: own.dir } },
    { type: 'run.place' },
    { type: 'run.exit', code: 3, signal: null },
    { type: 'run.exit', code: null, signal: 15 },
    { type: 'run.exit', code: null, signal: 9 },
  ]);
  expect([asPublished, asWritten].map((one) => typeof one)).toEqual(['function', 'function']);
});

it('never throws, and says why a note is not told', () => {
  const own = launcher(undefined, 'node');
  const notes = notesOf(own);
  const strange = notes as unknown as Record<'reserve' | 'bind' | 'exit', (...words: unknown[]) => unknown>;
  const told = [
    notes.place('r', join(own.dir, 'nowhere')),
    notes.place('r', '--help'),
    notes.reserve('a b'),
    notes.reserve('r\0'),
    notes.reserve('--help'),
    notes.exit('r', {}),
    createNotes({ producer: '../x', stateDir: own.stateDir }).bind('r'),
    createNotes({ producer: 'node', stateDir: '/dev/null/x', waitMs: patienceMs }).bind('r'),
    createNotes({ producer: 'node', stateDir: own.stateDir, waitMs: Number.NaN }).bind('r'),
    strange.reserve(undefined),
    strange.bind('r', { pid: 'x' }),
    strange.exit('r', { signal: {} }),
  ];
  expect(told).toEqual(told.map(() => ({ told: false, why: expect.stringMatching(/./) })));
  expect(own.taken()).toMatchObject({ notes: [], unsettled: 2 });
});

it('takes a bad argument of a call for a lost note, and no argument at all for a mistake that it survives', () => {
  const notes = createNotes(undefined as unknown as adapter.NotesOptions);
  expect(notes.bind('r')).toMatchObject({ told: false });
  const careless = notesOf(launcher(undefined, 'node')) as unknown as Record<
    'exit' | 'reserve',
    (run: string, how: null) => unknown
  >;
  expect(careless.exit('r', null)).toMatchObject({ told: false });
  expect(careless.reserve('r', null)).toMatchObject({ told: true });
});

it('says so where the client is not built, and when it is too late', () => {
  const own = launcher(undefined, 'node');
  const copy = join(own.dir, 'package', 'dist');
  mkdirSync(copy, { recursive: true });
  cpSync(bundle, join(copy, 'note.mjs'));
  const script = (waitMs: number) =>
    `import { createNotes } from './note.mjs'; console.log(JSON.stringify(createNotes({ producer: 'p', stateDir: '${own.stateDir}', waitMs: ${waitMs} }).bind('r')));`;
  const run = (waitMs: number) =>
    JSON.parse(
      spawnSync(process.execPath, ['--input-type=module', '-e', script(waitMs)], { cwd: copy, encoding: 'utf8' })
        .stdout,
    );
  expect(run(100)).toEqual({ told: false, why: 'the client is not built: npm rebuild custody' });
  // One that never ends, in its place: the launcher goes on after its bound.
  const built = join(own.dir, 'package', 'pty', 'note', 'build');
  mkdirSync(built, { recursive: true });
  writeFileSync(join(built, 'custody-note'), '#!/bin/sh\nexec sleep 600 2>&-\n', { mode: 0o755 });
  expect(run(200)).toEqual({ told: false, why: expect.stringMatching(/ETIMEDOUT/) });
});

it('binds a child while it lives', async () => {
  const own = launcher(undefined, 'node');
  const notes = notesOf(own);
  const child = spawn('sh', ['-c', 'read line'], { stdio: ['pipe', 'ignore', 'inherit'] });
  expect(notes.bind('r', { pid: child.pid! })).toEqual({ told: true });
  child.stdin!.end();
  const [code, signal] = await once(child, 'exit');
  expect(notes.exit('r', { code, signal })).toEqual({ told: true });
  expect(own.notes()).toMatchObject([{ process: { pid: child.pid } }, { type: 'run.exit', signal: null }]);
});

it('takes nothing of the rest of the package along', () => {
  const imported = [...readFileSync(bundle, 'utf8').matchAll(/from "([^"]+)"/g)].map(([, name]) => name);
  expect(imported.every((name) => name?.startsWith('node:'))).toBe(true);
  expect(client()).toMatch(/custody-note$/);
});
