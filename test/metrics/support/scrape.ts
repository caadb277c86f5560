/** What a scraper gets, read by a parser that is not ours. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import parsePrometheusTextFormat from 'parse-prometheus-text-format';

export interface Scraped {
  readonly status: number;
  readonly type: string | undefined;
  readonly body: string;
}

export function scraped(socketPath: string, credential?: string): Promise<Scraped> {
  const headers = credential === undefined ? {} : { authorization: `Custody ${credential}` };
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/metrics', headers }, (answer) => {
      void text(answer).then((body) =>
        resolve({ status: answer.statusCode!, type: answer.headers['content-type'], body }),
      );
    });
    asked.on('error', reject).end();
  });
}

interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly metrics: readonly Readonly<Record<string, string | Readonly<Record<string, string>>>>[];
}

export const parsed = (body: string): readonly Family[] => parsePrometheusTextFormat(body);

/** Everything that only grows, by name and labels: counters, and the sums and counts of summaries. */
export function counters(body: string): ReadonlyMap<string, number> {
  return new Map(
    parsed(body).flatMap(({ name, type, metrics }) =>
      metrics.flatMap(({ labels, value, count, sum }): [string, number][] => {
        if (type === 'COUNTER') return [[`${name} ${JSON.stringify(labels ?? {})}`, Number(value)]];
        if (type !== 'SUMMARY') return [];
        return [
          [`${name}_count`, Number(count)],
          [`${name}_sum`, Number(sum)],
        ];
      }),
    ),
  );
}
