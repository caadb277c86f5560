/** What a session has said, as it lies on the disk: for playing back, and as a screen at any instant. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { InspectedDaemon } from '../../../actors/daemon/inspector/port.ts';
import { transcriptDirOf, unrecordedMark } from '../../../actors/runtime/unrecorded.ts';
import { readHeader } from '../../../pty/transcript/findings.ts';
import { notHere } from '../access/refusal.ts';
import type { Beside } from '../thread/beside.ts';

type Parts = Pick<InspectedDaemon, 'places' | 'store'>;

export const directoryOf = ({ places }: Parts, sessionId: string): string => transcriptDirOf(places, sessionId);

/** Whether anything of it is there that can be read. An id that no session has may be any path, and names no file. */
export async function isRecorded(daemon: Parts, sessionId: string): Promise<boolean> {
  if (daemon.store.actors.keyOf({ kind: 'ptySession', id: sessionId }) === undefined) return false;
  const dir = directoryOf(daemon, sessionId);
  return existsSync(dir) && !existsSync(join(dir, unrecordedMark)) && 'version' in (await readHeader(dir));
}

/**
 * An asciicast of version 2, in pieces that are made as they are taken, beside everything else: an hour of output is a
 * million lines of an index. Throws a Refusal where nothing was kept.
 */
export async function recordingOf(
  daemon: Parts,
  beside: Beside,
  sessionId: string,
): Promise<AsyncGenerator<Uint8Array>> {
  if (!(await isRecorded(daemon, sessionId))) throw notHere(`recording of ${sessionId}`);
  return pieces(beside, directoryOf(daemon, sessionId));
}

let readers = 0;

async function* pieces(beside: Beside, dir: string): AsyncGenerator<Uint8Array> {
  readers += 1;
  const reader = readers;
  try {
    for (let isFirst = true; ; isFirst = false) {
      const piece = await beside.work<'recording'>({ do: 'recording', dir, reader, isFirst });
      if (piece === undefined) return;
      yield piece;
    }
  } finally {
    await beside.work<'recordingClosed'>({ do: 'recordingClosed', reader });
  }
}
