/** Lines for people: none is wider than a usual terminal, and none of the words is lost. */
import { describe, expect, it } from 'vitest';
import { parseSpan } from '../../cli/duration.ts';
import { checkLines } from '../../cli/print/checks.ts';
import { plain } from '../../cli/print/style.ts';
import { columns, wrapped } from '../../cli/print/wrap.ts';

const words = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');

describe('text for people', () => {
  it('is broken between words, indented, and whole', () => {
    const lines = wrapped(words, { from: 20, hang: 8 });
    expect(lines.length).toBeGreaterThan(3);
    expect(Math.max(...lines.slice(1).map(({ length }) => length), 20 + lines[0]!.length)).toBeLessThanOrEqual(columns);
    expect(lines.slice(1).every((line) => line.startsWith(' '.repeat(8)))).toBe(true);
    expect(lines.map((line) => line.trim()).join(' ')).toBe(words);
    expect(wrapped('x'.repeat(200))).toEqual(['x'.repeat(200)]);
    expect(wrapped('')).toEqual(['']);
  });

  it('of a check keeps to the width, repair included', () => {
    const check = { id: 'store.limits', ok: false, severity: 'warning', detail: words, fix: words } as const;
    expect(Math.max(...checkLines([check], plain).map(({ length }) => length))).toBeLessThanOrEqual(columns);
  });
});

it('a window reaches back by days as well as by hours', () => {
  expect(parseSpan('2d')).toBe(parseSpan('48h'));
  expect(parseSpan('1.5h')).toBe(5_400_000);
  expect(['2', 'd', '2w', '2031-05-06'].map(parseSpan)).toEqual([undefined, undefined, undefined, undefined]);
});
