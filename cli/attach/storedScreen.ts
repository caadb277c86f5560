/** The last screen of a session that nobody holds any more, rendered here from its transcript. */
import type { ScreenSnapshot } from '../../pty/screen/protocol.ts';
import { createScreens } from '../../pty/screen/screens.ts';
import type { FoundSession } from '../sessionClient.ts';
import { lastExtent, placeOf } from './storedSession.ts';

/** From its last checkpoint on, which may be gone. */
const answerMs = 60_000;

/** Throws ScreenError, and what `placeOf` throws. */
export async function storedScreen({ sessionId, transcriptDir: dir }: FoundSession): Promise<ScreenSnapshot> {
  const { header, segmentBytes } = await placeOf(dir);
  const { cols, rows } = header;
  const screens = createScreens({ workerPath: new URL('./screenWorker.js', import.meta.url) });
  try {
    screens.open(sessionId, { dir, segmentBytes, cols, rows, offset: lastExtent({ dir, segmentBytes })?.to ?? 0 });
    return await screens.snapshot(sessionId, { timeoutMs: answerMs });
  } finally {
    await screens.dispose();
  }
}
