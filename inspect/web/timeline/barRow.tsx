import type { Bar } from '../../server/contract.ts';
import { hrefOf } from '../shell/route.ts';
import { dateTime, duration } from '../text/quantity.ts';
import { signOf, type Tone } from '../text/tone.ts';
import { inWords, visible } from '../text/visible.ts';
import { placeIn, type Span } from './scale.ts';

interface BarRowProps {
  readonly bar: Bar;
  readonly tone: Tone;
  readonly span: Span;
  readonly nowMs: number;
}

export function BarRow({ bar, tone, span, nowMs }: BarRowProps) {
  const left = placeIn(span, bar.fromMs);
  const width = placeIn(span, bar.toMs ?? nowMs) - left;
  const lasted = duration((bar.toMs ?? nowMs) - bar.fromMs);
  const state = inWords(bar.state.split('.').at(-1) ?? bar.state);
  const words = `${bar.label}, ${state}, ${bar.toMs === null ? `for ${lasted} so far` : lasted}`;
  return (
    <li class={`bar-row tone-${tone}`} data-bar={bar.key} data-lasting={bar.toMs === null}>
      <p class="bar-words">
        <span class="sign" aria-hidden="true">
          {signOf[tone]}
        </span>
        {bar.actor === null ? (
          <span>{visible(bar.label)}</span>
        ) : (
          <a href={hrefOf(['actor', bar.actor.kind, bar.actor.id], { at: pastOf(bar) })}>{visible(bar.label)}</a>
        )}
        <span class="faint">{`${visible(state)}, ${lasted}${bar.toMs === null ? ' so far' : ''}`}</span>
        {bar.reason !== null && <span class="reason">{visible(bar.reason)}</span>}
      </p>
      <div
        class="bar-ground"
        role="img"
        aria-label={visible(words)}
        title={visible(`${words}, from ${dateTime(bar.fromMs)}`)}
      >
        <span
          class={`bar ${bar.toMs === null ? 'lasting' : ''}`}
          style={{ left: `${left * 100}%`, width: `max(3px, ${width * 100}%)` }}
        />
      </div>
    </li>
  );
}

/** What is over is opened where it ended, what lasts as it is. */
const pastOf = ({ toPosition }: Bar): string | undefined => toPosition?.toString();
