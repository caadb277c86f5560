/** Screens of a recording that is still being written, and of one whose terminal was resized. */
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Screens } from '../../../inspect/server/thread/screens.ts';
import { privateDirectory, steppingClock, writer } from '../../transcript/support/transcripts.ts';

function screens(): Screens {
  const made = new Screens();
  onTestFinished(() => made.close());
  return made;
}

describe('a screen of the past', () => {
  it('has what came since it was looked at first', async () => {
    const dir = join(privateDirectory(), 'Sgrowing');
    const living = writer({ dir });
    living.append([Buffer.from('first')]);
    const shown = screens();
    const at = { timeMs: 60_000 };
    expect((await shown.at(dir, at))?.lines[0]).toBe('first');
    living.append([Buffer.from(' second')]);
    expect((await shown.at(dir, at))?.lines[0]).toBe('first second');
    expect((await shown.at(dir, { offset: 100 }))?.lines[0]).toBe('first second');
  });

  it('has the size of its instant, also when only a resize came after it', async () => {
    const dir = join(privateDirectory(), 'Sresized');
    let nowUs = 0;
    const clock = { ...steppingClock(), monotonicUs: () => nowUs };
    const living = writer({ dir, clock });
    nowUs = 5_000_000;
    living.append([Buffer.from('words')]);
    nowUs = 8_000_000;
    living.resize(100, 30);
    const shown = screens();
    expect(await shown.at(dir, { timeMs: 9_000 })).toMatchObject({ cols: 100, rows: 30, timeMs: 5_000 });
    expect(await shown.at(dir, { timeMs: 6_000 })).toMatchObject({ cols: 80, rows: 24, timeMs: 5_000 });
  });

  it('says what of the output before its instant is not there any more', async () => {
    const dir = join(privateDirectory(), 'Sdropped');
    const living = writer({ dir, segmentBytes: 10, maxBytes: 20 });
    for (const word of ['one......', 'two......', 'three....', 'four.....', 'five.....'])
      living.append([Buffer.from(`${word}\n`)]);
    const shown = screens();
    expect(await shown.at(dir, { timeMs: 60_000 })).toMatchObject({ missing: { bytes: 30, reason: 'dropped' } });
    const whole = join(privateDirectory(), 'Swhole');
    writer({ dir: whole }).append([Buffer.from('words')]);
    expect(await shown.at(whole, { timeMs: 60_000 })).toMatchObject({ missing: null });
  });
});
