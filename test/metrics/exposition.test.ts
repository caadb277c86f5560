/** The text format of Prometheus, read back by an independent parser. */
import { describe, expect, it } from 'vitest';
import { expositionOf, type Family } from '../../actors/metrics/exposition.ts';
import { parsed } from './support/scrape.ts';

const family = (labels: Readonly<Record<string, string>>[]): Family => ({
  name: 'custody_things_total',
  help: 'Things with a \\ and\na second line.',
  type: 'counter',
  samples: labels.map((one, n) => ({ labels: one, value: n })),
});

describe('METR-01: the exposition', () => {
  it('brings hostile label values through as they are', () => {
    const values = [
      'plain',
      'a"b',
      'back\\slash',
      '\\"',
      'two\nlines',
      '\\n',
      '}',
      '{a="b"} 7',
      '# TYPE x gauge',
      ' ',
      '',
      'ü 木 👩‍👩',
      ',=',
    ];
    const text = expositionOf([family(values.map((producer) => ({ producer, state: 'open' })))]);
    expect(text.endsWith('\n')).toBe(true);
    expect(text.split('\n')).toHaveLength(values.length + 3);
    const [read, ...more] = parsed(text);
    expect(more).toEqual([]);
    expect(read).toMatchObject({ name: 'custody_things_total', type: 'COUNTER' });
    expect(read!.metrics).toEqual(
      values.map((producer, n) => ({ value: String(n), labels: { producer, state: 'open' } })),
    );
  });

  it('holds nothing that acts on a terminal, and no half characters', () => {
    const text = expositionOf([
      family(['\x1b[2J', '\u202e', '\ud800', '\x00', '\u2028'].map((producer) => ({ producer }))),
    ]);
    expect(text).not.toMatch(/[^\n\x20-\x7e]/);
    expect(new Set(parsed(text)[0]!.metrics.map(({ labels }) => JSON.stringify(labels))).size).toBe(5);
  });

  it('says NaN of a quantile of nothing, and leaves out what cannot be told', () => {
    const text = expositionOf([
      {
        name: 'a_seconds',
        help: 'a',
        type: 'summary',
        samples: [
          { labels: { quantile: '0.5' }, value: Number.NaN },
          { suffix: '_sum', value: 0 },
          { suffix: '_count', value: 0 },
        ],
      },
      { name: 'b_bytes', help: 'b', type: 'gauge', samples: [] },
    ]);
    expect(parsed(text)).toMatchObject([
      { name: 'a_seconds', type: 'SUMMARY', metrics: [{ quantiles: { '0.5': 'NaN' }, sum: '0', count: '0' }] },
      { name: 'b_bytes', type: 'GAUGE', metrics: [] },
    ]);
  });
});
