import { keyOf } from '../data/fleet.ts';
import { hrefOf } from '../shell/route.ts';
import { kinds } from '../text/kinds.ts';
import { endWords, signOf } from '../text/tone.ts';
import { stateInWords, visible } from '../text/visible.ts';
import type { Judged } from './selection.ts';

interface FleetRowProps {
  readonly judged: Judged;
  readonly index: number;
  readonly selected: boolean;
  readonly select: (key: string) => void;
}

/** Regions whose state says nothing as long as nothing is wrong. */
const quiet = /^(integration\.idle|convergence\.converged|exitReport\.absent|termination\.idle|scope\.unsettled)$/;

export function FleetRow({ judged: { row, tone }, index, selected, select }: FleetRowProps) {
  const key = keyOf(row);
  const [first, ...others] = row.state.filter((state) => !quiet.test(state)).map(stateInWords);
  return (
    <div
      id={`row-${key}`}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={selected}
      class={`fleet-row tone-${tone}`}
      data-actor={key}
      data-state={row.state.join(' ')}
      data-version={row.version}
      onPointerDown={() => select(key)}
    >
      <span role="gridcell" class="cell-sign sign" title={row.status}>
        {signOf[tone]}
      </span>
      <span role="gridcell" class="cell-kind">
        {kinds[row.kind].one}
      </span>
      <span role="gridcell" class="cell-label">
        <a
          href={hrefOf(['actor', row.kind, row.id])}
          // The end of a path tells it from others: it is cut at its beginning.
          class={row.kind === 'worktreeGeneration' ? 'path' : undefined}
          tabIndex={-1}
        >
          {row.label === null || row.label === '' ? (
            <span class="faint">no name</span>
          ) : (
            <bdi dir="ltr">{visible(row.label)}</bdi>
          )}
        </a>
      </span>
      <span role="gridcell" class="cell-id mono">
        {visible(row.id)}
      </span>
      <span role="gridcell" class="cell-state">
        {visible([first, endWords(row), ...others].filter(Boolean).join(' · '))}
      </span>
      <span role="gridcell" class="cell-waits">
        {row.status === 'corrupt' ? 'its record does not match its digest' : visible(row.waits ?? '')}
      </span>
    </div>
  );
}
