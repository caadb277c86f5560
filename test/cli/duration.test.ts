import { describe, expect, it } from 'vitest';
import { durationMs, parseDuration, parseWhole } from '../../cli/duration.ts';

describe('durations', () => {
  it.each([
    ['0', 0],
    ['250', 250],
    ['500ms', 500],
    ['2s', 2_000],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['24h', 86_400_000],
  ])('%s is %i ms', (text, ms) => {
    expect(durationMs(text)).toBe(ms);
  });

  it.each(['', ' ', '5 s', '-1', '1d', 's', '1e3', '25h', 'G4k', '0x10', '1.', '٣'])('%j is none', (text) => {
    expect(durationMs(text)).toBeUndefined();
    expect(() => parseDuration(text)).toThrow(/500ms, 2s, 5m or 1h/);
  });

  it('numbers have bounds, and the message names them', () => {
    const parse = parseWhole(-10, 10);
    expect([parse('-10'), parse('0'), parse('10')]).toEqual([-10, 0, 10]);
    for (const text of ['11', '-11', '1.5', '', 'x', '1e1']) expect(() => parse(text)).toThrow('from -10 to 10');
  });
});
