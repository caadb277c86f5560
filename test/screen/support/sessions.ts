import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { loadCheckpoint } from '../../../pty/screen/checkpoint.ts';
import { createScreens, type Screens, type ScreensOptions } from '../../../pty/screen/screens.ts';
import { openTranscript, type TranscriptWriter } from '../../../pty/transcript/writer.ts';
import { bundled } from '../../persistence/support/children.ts';
import { eventually } from '../../support/eventually.ts';
import { header, privateDirectory } from '../../transcript/support/transcripts.ts';

const directories = new WeakMap<Screens, string>();
let workerPath: string | undefined;

/** The thread as it ships, but for where it lies. */
export function screens(options: Partial<ScreensOptions> = {}): Screens {
  // Removed after the thread has ended: what is set up last is taken down first.
  const directory = privateDirectory();
  workerPath ??= bundled('pty/screen/worker.ts', `screenWorker-${process.pid}`);
  const started = createScreens({ workerPath, ...options });
  onTestFinished(() => started.dispose());
  directories.set(started, directory);
  return started;
}

export interface WrittenSession {
  readonly name: string;
  readonly dir: string;
  readonly transcript: TranscriptWriter;
  /** Stores output and tells of it. */
  say(output: string | Uint8Array): number;
  resize(cols: number, rows: number): void;
}

export interface SessionOptions {
  readonly name?: string;
  readonly segmentBytes?: number;
  readonly maxBytes?: number;
}

/** A session as the host runs it: the transcript first, then the hint. */
export function session(
  all: Screens,
  { name = 'S1', segmentBytes = 1024 * 1024, ...cap }: SessionOptions = {},
): WrittenSession {
  const dir = join(directories.get(all)!, name);
  const transcript = openTranscript({ dir, header, segmentBytes, ...cap });
  onTestFinished(() => transcript.close());
  all.open(name, { dir, segmentBytes, cols: header.cols, rows: header.rows });
  return {
    name,
    dir,
    transcript,
    say(output) {
      const { offset } = transcript.append([Buffer.from(output)]);
      all.advance(name, offset);
      return offset;
    },
    resize(cols, rows) {
      transcript.resize(cols, rows);
      all.advance(name, transcript.offset);
    },
  };
}

/** Resolves when the screen as it is at `offset` has been kept. */
export const kept = (dir: string, offset: number): Promise<true> =>
  eventually(`a checkpoint at ${offset}`, () => (loadCheckpoint(dir)?.offset === offset ? true : undefined));
