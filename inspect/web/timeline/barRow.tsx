import type { Bar } from '../../server/contract.ts';
import { hrefOf } from '../shell/route.ts';
import { dateTime, duration } from '../text/quantity.ts';
import { endWords, signOf, type Tone, toneOfEnd, toneOfState, toneRank } from '../text/tone.ts';
import { inWords, stateInWords, visible } from '../text/visible.ts';
import { lastedMs, placeIn, type Span } from './scale.ts';

interface BarRowProps {
  /** One after the other; at least one. */
  readonly bars: readonly Bar[];
  readonly span: Span;
  readonly nowMs: number;
}

export function BarRow({ bars, span, nowMs }: BarRowProps) {
  const last = bars.at(-1)!;
  const tone = toneOfBar(last);
  const lasted = lastedWords(bars, nowMs);
  const lasting = last.toMs === null;
  const state = stateWords(last);
  const words = lasting
    ? [state === last.label ? '' : state, `${lasted} so far`].filter(Boolean).join(', ')
    : [endWords(last), lasted].filter(Boolean).join(', ');
  const name = last.label.split('/').at(-1) ?? last.label;
  return (
    <li class={`bar-row tone-${tone}`} data-bar={last.key} data-lasting={lasting}>
      <p class="bar-words" title={visible(last.label)}>
        <span class="sign" aria-hidden="true">
          {signOf[tone]}
        </span>
        {last.actor === null ? (
          <span>{visible(name)}</span>
        ) : (
          <a href={hrefOf(['actor', last.actor.kind, last.actor.id], { at: pastOf(last) })}>{visible(inWords(name))}</a>
        )}
        <span class="faint">{visible(words)}</span>
        {last.reason !== null && (lasting || last.lane === 'wait') && (
          <span class="reason">{visible(last.reason)}</span>
        )}
      </p>
      <div class="bar-ground">
        {bars.map((bar) => (
          <Segment key={bar.key} bar={bar} span={span} nowMs={nowMs} />
        ))}
      </div>
    </li>
  );
}

function Segment({ bar, span, nowMs }: { readonly bar: Bar; readonly span: Span; readonly nowMs: number }) {
  const ends = [bar.fromMs, bar.toMs ?? nowMs].map((at) => placeIn(span, at));
  const left = Math.min(...ends);
  const width = Math.max(...ends) - left;
  const lasted = lastedWords([bar], nowMs);
  const words = visible(
    [[stateWords(bar), endWords(bar), `${lasted} from ${dateTime(bar.fromMs)}`].filter(Boolean).join(', '), bar.reason]
      .filter(Boolean)
      .join('. '),
  );
  return (
    <span
      class={`bar tone-${toneOfBar(bar)} ${bar.toMs === null ? 'lasting' : ''}`}
      role="img"
      aria-label={words}
      title={words}
      style={{ left: `${left * 100}%`, width: `max(3px, ${width * 100}%)` }}
    />
  );
}

function lastedWords(bars: readonly Bar[], nowMs: number): string {
  const ms = lastedMs(bars, nowMs);
  return ms === null ? 'for a time that is not known (the clock was set back)' : duration(ms);
}

/** A parallel chart has a state for each region; what each of them is called, without its region. */
const leavesOf = ({ state }: Bar): readonly string[] => state.split(', ');

function stateWords(bar: Bar): string {
  return leavesOf(bar)
    .filter((leaf) => !/(absent|idle)$/.test(leaf) || leavesOf(bar).length === 1)
    .map(stateInWords)
    .join(', ');
}

function toneOfBar(bar: Bar): Tone {
  if (bar.lane === 'wait') return bar.toMs === null ? 'waiting' : 'idle';
  const ended = toneOfEnd(bar);
  if (ended !== undefined) return ended;
  const tones = leavesOf(bar).map(toneOfState);
  const worst = tones.sort((a, b) => toneRank[a] - toneRank[b])[0] ?? 'idle';
  if (bar.lane === 'worktree' && worst === 'live') return 'idle';
  if (worst !== 'live' || bar.toMs === null) return worst;
  // A step that is over has led to the next one; of anything else it is not known how it ended.
  return bar.lane === 'step' ? 'done' : 'idle';
}

/** What is over is opened where it ended, what lasts as it is. */
const pastOf = ({ toPosition }: Bar): string | undefined => toPosition?.toString();
