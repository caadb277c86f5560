/** Notes taken in, in batches of 100 that share a commit, against plain statements that write the same rows. */
import { noting, type Observing, quantile, timed } from './measuring.ts';
import { plainRows } from './plainRows.ts';

const batch = 100;

/** The three notes that nearly every run gets: a new actor, and two changes of one that is there. */
const kinds = {
  'run.reserve': () => ({ label: 'a run', place: null, retryOf: null }),
  'run.bind': (pid: number) => ({
    process: {
      pid,
      start: String(1_000_000 + pid),
      uid: 1_000,
      pidns: '4026531836',
      timens: '4026531834',
      pidfs: null,
    },
    place: null,
  }),
  'run.exit': () => ({ code: 0, signal: null }),
} as const;

type Kind = keyof typeof kinds;

export async function measureIntake({ store, observer }: Observing, copyPath: string, rounds: number) {
  const note = noting('ingest');
  const plain = await plainRows(store, copyPath);
  const times = new Map(Object.keys(kinds).map((kind) => [kind as Kind, { ours: [], plain: [] } as Times]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [type, { ours, plain: bare }] of times) {
      const notes = Array.from({ length: batch }, (_, at) =>
        note({ type, run: `r-${round}-${at}`, ...kinds[type](1_000 + round * batch + at) }),
      );
      const mark = plain.mark();
      ours.push(await timed(() => observer.sink.take(notes)));
      const again = plain.since(mark);
      bare.push(await timed(again));
    }
  }
  plain.close();
  for (const [kind, one] of times) report(kind, one);
}

interface Times {
  readonly ours: number[];
  readonly plain: number[];
}

function report(kind: Kind, { ours, plain }: Times): void {
  const each = (values: readonly number[]) => {
    const ms = quantile(values, 0.5);
    return `${((batch * 1_000) / ms).toFixed(0)}/s (${((ms * 1_000) / batch).toFixed(1)} µs each)`;
  };
  const ratio = quantile(
    ours.map((ms, at) => plain[at]! / ms),
    0.5,
  );
  console.log(
    `${kind} in batches of ${batch}: plain rows ${each(plain)}, notes ${each(ours)}, ratio ${ratio.toFixed(2)} (wanted 0.6)`,
  );
}
