/** The states of a chart as a list in a list: what is lit can be told at a glance, on a phone, and by who hears the page. */
import { inWords, visible } from '../text/visible.ts';
import type { ChartState, PlacedChart } from './placedChart.ts';

interface OutlineProps {
  readonly placed: PlacedChart;
  readonly active: ReadonlySet<string>;
}

export function Outline({ placed: { chart }, active }: OutlineProps) {
  const { root } = chart;
  const states = root.children.length === 0 ? [root] : root.children;
  return (
    <ul class={`outline ${root.kind === 'parallel' ? 'regions' : ''}`} aria-label="States">
      {states.map((state) => (
        <OutlineState key={state.id} state={state} active={active} />
      ))}
    </ul>
  );
}

function OutlineState({ state, active }: { readonly state: ChartState; readonly active: ReadonlySet<string> }) {
  const lit = active.has(state.id);
  return (
    <li class={lit ? 'lit' : ''} aria-current={lit && state.children.length === 0 ? 'true' : undefined}>
      <span class="outline-name">
        <span class="sign tone-live" aria-hidden="true">
          {lit ? '●' : '○'}
        </span>
        {visible(inWords(state.key))}
        {state.tags.includes('terminal') && <span class="faint"> ends here</span>}
      </span>
      {lit && state.description !== null && <p class="faint">{visible(state.description)}</p>}
      {state.children.length > 0 && (
        <ul>
          {state.children.map((child) => (
            <OutlineState key={child.id} state={child} active={active} />
          ))}
        </ul>
      )}
    </li>
  );
}
