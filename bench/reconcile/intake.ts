/** Notes taken in, in batches of 100 that share a commit, against plain statements that write the same rows. */
import { quantile, type Timing, timed } from '../timing.ts';
import { noting, type Observing, ratios } from './measuring.ts';
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
  readonly ours: Timing[];
  readonly plain: Timing[];
}

function report(kind: Kind, { ours, plain }: Times): void {
  const each = (timings: readonly Timing[]) => {
    const of = (clock: keyof Timing) =>
      quantile(
        timings.map((one) => (one[clock] * 1_000) / batch),
        0.5,
      );
    return `${(1e6 / of('wall')).toFixed(0)}/s (${of('wall').toFixed(1)} µs each, ${of('cpu').toFixed(1)} of the processor)`;
  };
  const { wall, cpu } = ratios(plain, ours);
  console.log(
    `${kind} in batches of ${batch}: plain rows ${each(plain)}, notes ${each(ours)}, ratio ${wall} (wanted 0.6), of processor time ${cpu}`,
  );
}
