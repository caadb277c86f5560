/** From any frame to any other: what a window shows is a part of the session's screen, however the two came about. */
import { expect, it } from 'vitest';
import { FrameMaker } from '../../cli/attach/frame.ts';
import { Painter } from '../../cli/attach/painter.ts';
import { noise, randomOf } from '../screen/support/noise.ts';
import { feed, terminalOf } from '../screen/support/terminals.ts';
import { differences } from './support/windows.ts';

it.each([0, 1_000, 2_000, 3_000])('paints random output, whatever was there before (seeds from %i)', async (first) => {
  for (let seed = first; seed < first + 40; seed += 1) {
    const random = randomOf(seed);
    const below = (limit: number) => Math.floor(random() * limit);
    const size = { cols: 2 + below(40), rows: 1 + below(15) };
    const session = terminalOf(size);
    let window = { cols: 1 + below(50), rows: 1 + below(20) };
    if (window.cols === 1) window = { ...window, cols: 2 };
    const viewer = terminalOf(window);
    await feed(viewer, '\x1b[?1049h\x1b[?7l');
    const frames = new FrameMaker(session, { sessionId: 'P1', wayOut: 'detach' });
    const painter = new Painter();
    for (let step = 0; step < 12; step += 1) {
      const link = ['', '\x1b]8;;\x07', '\x1b]8;;https://example.org/a\x07', '\x1b]8;id=b;https://example.org/b\x07'][
        below(4)
      ];
      await feed(session, Buffer.concat([Buffer.from(link!), noise(random, 1 + below(30)), Buffer.from('\x1b[?25h')]));
      if (random() < 0.1) {
        window = { cols: 2 + below(50), rows: 1 + below(20) };
        viewer.resize(window.cols, window.rows);
        painter.forget();
      }
      await feed(viewer, painter.paint(frames.frame(window), session));
      expect(differences(viewer, session), `seed ${seed}, step ${step}, ${JSON.stringify([size, window])}`).toEqual([]);
      expect(painter.paint(frames.frame(window), session)).toBe('');
    }
    session.dispose();
    viewer.dispose();
  }
});

it('makes no cells for a window that no terminal can be', () => {
  const session = terminalOf({ cols: 80, rows: 24 });
  const { rows } = new FrameMaker(session, { sessionId: 'P1', wayOut: 'detach' }).frame({ cols: 65_535, rows: 65_535 });
  expect([rows.length, rows[0]?.texts.length]).toEqual([1_000, 1_000]);
  session.dispose();
});
