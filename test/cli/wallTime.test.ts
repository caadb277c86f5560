import { expect, it } from 'vitest';
import { parseWallTime } from '../../cli/wallTime.ts';

it.each([
  ['1970-01-01', 0],
  ['1970-01-01T00:00Z', 0],
  ['1970-01-01T00:00:01.5Z', 1_500],
  ['1970-01-01T02:00:00+02:00', 0],
  ['2031-05-06T07:08:09Z', Date.UTC(2031, 4, 6, 7, 8, 9)],
])('%s is %i', (text, ms) => {
  expect(parseWallTime(text)).toBe(ms);
});

it.each([
  ...['', ' ', '5', 'yesterday', '1 Jan 2031', '2031', '2031-05', '2031-13-01', '2031-05-06T25:00Z', '1969-12-31'],
  // At another time on another machine.
  ...['2031-05-06T07:08:09', '2031-05-06 07:08:09Z', '2031-05-06T07:08:09 EST'],
])('%j is no moment', (text) => {
  expect(parseWallTime(text)).toBeUndefined();
});
