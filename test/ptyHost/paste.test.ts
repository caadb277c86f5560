import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pasted } from '../../pty/host/paste.ts';

const begin = '\x1b[200~';
const finish = '\x1b[201~';
const as = (text: string, bracketed: boolean): string => pasted(Buffer.from(text), { bracketed }).toString();

describe('pasted text', () => {
  it('has the Return key where lines end, and brackets for a program that asked for them', () => {
    expect(as('one\ntwo\r\nthree\r', false)).toBe('one\rtwo\rthree\r');
    expect(as('one\ntwo', true)).toBe(`${begin}one\rtwo${finish}`);
  });

  it('cannot end the paste early, however the bracket is nested', () => {
    expect(as(`a${finish}rm -rf`, true)).toBe(`${begin}arm -rf${finish}`);
    expect(as(`a\x1b[20${begin}1~b`, true)).toBe(`${begin}ab${finish}`);
    const parts = fc.array(fc.constantFrom('\x1b', '[20', '0~', '1~', begin, finish, 'x', '~'), { maxLength: 40 });
    fc.assert(
      fc.property(parts, (pieces) => {
        const inner = as(pieces.join(''), true).slice(begin.length, -finish.length);
        expect(inner.includes(begin) || inner.includes(finish)).toBe(false);
      }),
    );
  });

  it('takes time in proportion to its length: what somebody pastes holds up no terminal', () => {
    const cost = (count: number): number => {
      const text = Buffer.from(begin.repeat(count));
      const started = process.hrtime.bigint();
      pasted(text, { bracketed: true });
      return Number(process.hrtime.bigint() - started);
    };
    cost(1_000);
    const small = Math.min(cost(5_000), cost(5_000), cost(5_000));
    const large = Math.min(cost(80_000), cost(80_000), cost(80_000));
    expect(large / small).toBeLessThan(100); // 16 times the text; what is quadratic takes 256 times as long
  });
});
