/** The events of one actor, newest first. Each is a way into the past. */
import type { EventView } from '../../server/contract.ts';
import { clockTime, dateTime } from '../text/quantity.ts';
import type { Tone } from '../text/tone.ts';
import { signOf } from '../text/tone.ts';
import { inWords, visible } from '../text/visible.ts';

interface JournalPanelProps {
  readonly events: readonly EventView[];
  /** Position that is shown. */
  readonly at: number;
  readonly travel: (position: number) => void;
  /** Undefined where there is nothing older. */
  readonly older: (() => void) | undefined;
}

const toneOfOutcome: Readonly<Record<string, Tone>> = {
  changed: 'done',
  noop: 'idle',
  duplicate: 'idle',
  rejected: 'warn',
};

/** Some are the only one of their kind, and are called by it. */
export const producerWords = ({ kind, id }: EventView['producer']): string => (kind === id ? kind : `${kind} ${id}`);

export function JournalPanel({ events, at, travel, older }: JournalPanelProps) {
  return (
    <section class="journal" aria-labelledby="journal-title">
      <h2 id="journal-title">Journal</h2>
      <ol reversed>
        {events.map((event) => {
          const tone = toneOfOutcome[event.outcome] ?? 'idle';
          return (
            <li key={event.position}>
              <button
                type="button"
                class={`journal-row tone-${tone}`}
                aria-current={event.position === at ? 'step' : undefined}
                data-position={event.position}
                onClick={() => travel(event.position)}
              >
                <span class="mono position">#{event.position}</span>
                <time class="mono faint" dateTime={new Date(event.wallMs).toISOString()} title={dateTime(event.wallMs)}>
                  {clockTime(event.wallMs)}
                </time>
                <span class="mono type">{visible(event.type)}</span>
                <span class="sign" title={event.outcome}>
                  <span aria-hidden="true">{signOf[tone]}</span>
                  <span class="hidden">{visible(inWords(event.outcome))}</span>
                </span>
                <span class="faint producer">{visible(producerWords(event.producer))}</span>
              </button>
            </li>
          );
        })}
      </ol>
      {older !== undefined && (
        <button type="button" class="small" onClick={older}>
          Older
        </button>
      )}
    </section>
  );
}
