/** What leaving switches off again, judged by a terminal. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TerminalModes } from '../../cli/attach/terminalModes.ts';
import { createEmulator } from '../../pty/transcript/emulator.ts';

function stateAfter(...pieces: readonly (string | Uint8Array)[]) {
  const terminal = createEmulator({ cols: 40, rows: 10, scrollback: 100 });
  return new Promise((resolve) => {
    const all = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
    terminal.write(all, () => {
      const { _core } = terminal as unknown as { _core: { coreService: Record<string, unknown> } };
      const { isCursorHidden, decPrivateModes } = _core.coreService;
      const { modes, buffer } = terminal;
      const { wraparound: _, ...kept } = decPrivateModes as Record<string, unknown>;
      resolve({ modes, type: buffer.active.type, isCursorHidden, kept });
      terminal.dispose();
    });
  });
}

const modesIn = (...chunks: string[]): TerminalModes => {
  const modes = new TerminalModes();
  for (const chunk of chunks) modes.note(Buffer.from(chunk, 'latin1'));
  return modes;
};

const untouched = '\x1b[m\x1b(B\x0f\x1b[?25h';

describe('what leaving undoes', () => {
  it('is nothing where nothing was switched on, or what was is off again', () => {
    expect(modesIn('plain text\r\n\x1b[31mred').undo).toBe(untouched);
    expect(modesIn('\x1b[?1049h\x1b[?25l\x1b[?1000;1006h', '\x1b[?1000;1006l\x1b[?25h\x1b[?1049l').undo).toBe(
      untouched,
    );
    expect(modesIn('\x1b[?1049h\x1b[?2004h\x1bc').undo).toBe(untouched);
    expect(modesIn('\x1b[?7l\x1b[?25l\x1b[!p').undo).toBe(untouched);
  });

  it('is in an order that a terminal can follow: output shown again first, the keys of both screens', () => {
    const { undo } = modesIn('\x1b[>1u\x1b[?2026h\x1b[?1049h\x1b[>4;2m');
    expect(undo).toBe(`\x1b[?2026l\x1b[=0;1u\x1b[<99u\x1b[?1049l\x1b[=0;1u\x1b[<99u\x1b[>4m${untouched}`);
  });

  it('ends a sequence that was cut in the middle', () => {
    for (const cut of ['\x1b', '\x1b[?10', '\x1b]8;;http://', '\x1bPq#0', '\x1b]0;title\x1b']) {
      expect(modesIn(cut).undo).toBe(`\x18${untouched}`);
    }
  });

  it('takes no notice of what only looks like a sequence', () => {
    expect(modesIn('\x1b]0;\x1b').undo).toContain('\x18');
    expect(modesIn('\x1b]2;[?1049h\x07').undo).toBe(untouched);
    expect(modesIn('\x1b[?1049\x18h').undo).toBe(untouched);
    expect(modesIn('\x1b[?1049$p\x1b[>c\x1b[?u').undo).toBe(untouched);
  });

  const sequence = fc.oneof(
    fc
      .tuple(
        fc.constantFrom(1, 6, 7, 9, 25, 47, 66, 1000, 1002, 1003, 1004, 1006, 1047, 1049, 2004),
        fc.constantFrom('h', 'l'),
      )
      .map(([mode, final]) => `\x1b[?${mode}${final}`),
    fc.constantFrom(
      '\x1b=',
      '\x1b>',
      '\x1b[4h',
      '\x1b[4l',
      '\x1b[2;5r',
      '\x1b[r',
      '\x1b[!p',
      '\x1bc',
      'text',
      '\x1b]8;;x\x07',
      '🙂',
    ),
  );

  it('leaves a terminal as a fresh one, whatever was said to it and however it was cut (property)', async () => {
    const pristine = await stateAfter('');
    await fc.assert(
      fc.asyncProperty(fc.array(sequence, { maxLength: 20 }), fc.nat(), async (sequences, at) => {
        const all = Buffer.from(sequences.join(''));
        const said = all.subarray(0, all.length - (at % 7 === 0 ? at % (all.length + 1) : 0));
        const modes = new TerminalModes();
        const middle = said.length === 0 ? 0 : at % said.length;
        modes.note(said.subarray(0, middle));
        modes.note(said.subarray(middle));
        expect(await stateAfter(said, modes.undo)).toEqual(pristine);
      }),
      { numRuns: 300 },
    );
  });
});
