import { describe, expect, it } from 'vitest';
import { parseDuration, parseWhole } from '../../cli/duration.ts';
import { emptyHome, run } from './support/program.ts';

describe('durations', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['500ms', 500],
    ['2s', 2_000],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['24h', 86_400_000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', ' ', '5 s', '-1', '1d', 's', '1e3', '25h', 'G4k', '0x10', '1.', '٣'])('%j is none', (text) => {
    expect(() => parseDuration(text)).toThrow(/500ms, 2s, 5m or 1h/);
  });

  it('a number without a unit is asked about, because seconds and milliseconds are both meant by people', () => {
    expect(() => parseDuration('5')).toThrow('say 5s or 5ms');
    expect(() => parseDuration('1.5')).toThrow('say 1.5s or 1.5ms');
  });

  it.each([
    ['runs', 'exec', 'G', '--timeout', '5', '--', 'true'],
    ['runs', 'exec', 'G', '--grace', '5', '--', 'true'],
    ['runs', 'exec', 'G', '--budget', '5', '--', 'true'],
    ['runs', 'exec', 'G', '--wait', '5', '--', 'true'],
    ['runs', 'wait', 'R', '--wait', '5'],
    ['runs', 'stop', 'R', '--grace', '5'],
    ['runs', 'stop', 'R', '--budget', '5'],
    ['runs', 'stop', 'R', '--wait', '5'],
    ['goals', 'cancel', 'G', '--wait', '5'],
  ])('%s %s %s %s asks for it', async (...args) => {
    const home = emptyHome();
    const refused = await run(args, { env: home.env });
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('say 5s or 5ms') });
    home.remove();
  });

  it('numbers have bounds, and the message names them', () => {
    const parse = parseWhole(-10, 10);
    expect([parse('-10'), parse('0'), parse('10')]).toEqual([-10, 0, 10]);
    for (const text of ['11', '-11', '1.5', '', 'x', '1e1']) expect(() => parse(text)).toThrow('from -10 to 10');
  });
});
