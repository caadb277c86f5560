/** Shared memory is everybody's: a directory of the expected name may be anybody's, and is used only where it is ours. */
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  discardUnrecorded,
  prepareUnrecorded,
  rememberedSessions,
  transcriptDirOf,
  unrecordedRoot,
} from '../../actors/runtime/unrecorded.ts';
import { temporaryDirectory } from '../persistence/support/temporaryStore.ts';

function memory() {
  const stateDir = temporaryDirectory();
  const places = { stateDir, transcriptsDir: join(stateDir, 'transcripts') };
  const root = unrecordedRoot(places);
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return { places, root, onDisk: join(places.transcriptsDir, 'P1') };
}

it('a session that lies in memory is found there, and forgotten', () => {
  const { places, onDisk } = memory();
  const held = prepareUnrecorded(places, 'P1');
  expect(transcriptDirOf(places, 'P1')).toBe(onDisk);
  mkdirSync(held);
  expect(transcriptDirOf(places, 'P1')).toBe(held);
  expect(rememberedSessions(places)).toEqual(['P1']);
  discardUnrecorded(places, 'P1');
  expect(existsSync(held)).toBe(false);
});

it.each([
  [
    'that others may use',
    (root: string) => {
      mkdirSync(join(root, 'P1'), { recursive: true });
      chmodSync(root, 0o755);
    },
  ],
  [
    'that is a link',
    (root: string) => {
      const elsewhere = temporaryDirectory();
      mkdirSync(join(elsewhere, 'P1'));
      symlinkSync(elsewhere, root);
    },
  ],
])('a place %s is taken for nobody’s words, left as it is, and never used', (_, occupy) => {
  const { places, root, onDisk } = memory();
  occupy(root);
  expect(transcriptDirOf(places, 'P1')).toBe(onDisk);
  expect(rememberedSessions(places)).toEqual([]);
  discardUnrecorded(places, 'P1');
  expect(existsSync(join(root, 'P1'))).toBe(true);
  expect(() => prepareUnrecorded(places, 'P2')).toThrow(
    expect.objectContaining({ code: 'memory_unavailable', next: expect.arrayContaining([`remove ${root}`]) }),
  );
});
