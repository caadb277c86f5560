/** What observing knows and what it does not: never more than "best effort", because nobody has to tell it (INT-06). */
import { dueLink } from '../../machines/run.ts';
import type { Store } from '../../persistence/store.ts';
import type { RecordedGap } from '../../persistence/tables/coverageGaps.ts';
import type { Pass } from '../../persistence/tables/passes.ts';
import type { ProducerProgress } from '../../persistence/tables/producers.ts';
import type { Host } from '../host/api.ts';
import { everyActor, everyRow } from '../runtime/actorAccess.ts';

export interface ObserveStatus {
  /** A run of which nobody tells is not known, and one that is shorter than a pass may never be seen. */
  readonly coverageClass: 'best_effort';
  readonly runs: {
    /** Told of, without a process. */
    readonly unbound: number;
    /** With a process that is looked at. */
    readonly bound: number;
    /** Unfinished ones of which something was not told. */
    readonly withGaps: number;
    readonly unreadable: number;
  };
  readonly gaps: { readonly recorded: number; readonly open: number; readonly shown: readonly RecordedGap[] };
  readonly producers: readonly ProducerProgress[];
  readonly lastPass: Pass | null;
}

/** Open gaps that are listed; `custody coverage` lists all. */
const shownGaps = 20;

export function observeStatus({ host, store }: { readonly host: Host; readonly store: Store }): ObserveStatus {
  return {
    coverageClass: 'best_effort',
    runs: countRuns(host),
    gaps: { ...store.coverageGaps.count(), shown: store.coverageGaps.open({ limit: shownGaps }) },
    producers: store.producers.list(),
    lastPass: store.passes.newest(1)[0] ?? null,
  };
}

function countRuns(host: Host): ObserveStatus['runs'] {
  const counts = { unbound: 0, bound: 0, withGaps: 0, unreadable: 0 };
  for (const _ of everyRow(host, 'run', { link: { name: dueLink, value: 'observe' } })) counts.bound += 1;
  for (const { snapshot } of everyActor(host, 'run', { settled: false })) {
    if (snapshot === 'corrupt') counts.unreadable += 1;
    else if (snapshot.context.mode === 'observe') {
      if (!snapshot.matches({ lifecycle: 'bound' })) counts.unbound += 1;
      if (snapshot.context.gaps.length > 0) counts.withGaps += 1;
    }
  }
  return counts;
}
