import type { Message } from '../../server/contract.ts';
import { clockTime, dateTime } from '../text/quantity.ts';
import { visible } from '../text/visible.ts';

interface MessageRowProps {
  readonly message: Message;
  readonly index: number;
  readonly selected: boolean;
  readonly lanes: {
    /** px before the first lane, and of each. */
    readonly left: number;
    readonly width: number;
    readonly from: number;
    readonly to: number;
    readonly count: number;
  };
  readonly choose: () => void;
}

export function MessageRow({ message, index, selected, lanes, choose }: MessageRowProps) {
  const { left, width, from, to } = lanes;
  const middle = (lane: number) => left + (lane + 0.5) * width;
  const [start, end] = [Math.min(middle(from), middle(to)), Math.max(middle(from), middle(to))];
  const self = from === to;
  // A lane that several share does not say who of them it was.
  const who = /^producer:(?!operator\/)([^/]+)/.exec(message.from)?.[1] ?? null;
  const wrong = message.outcome === 'rejected';
  return (
    <div
      id={`message-${message.position}`}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={selected}
      class={`message ${message.relayed ? 'relayed' : ''} ${wrong ? 'rejected' : ''} outcome-${message.outcome}`}
      data-message={message.position}
      data-type={message.type}
      style={{ paddingLeft: `${left}px`, backgroundSize: `${width}px 100%` }}
      onPointerDown={choose}
    >
      <span
        role="gridcell"
        class="message-when mono"
        style={{ marginLeft: `${-left}px` }}
        title={dateTime(message.wallMs)}
      >
        #{message.position} <span class="faint time">{clockTime(message.wallMs)}</span>
      </span>
      <span
        role="gridcell"
        class={`arrow ${self ? 'self' : to > from ? 'right' : 'left'}`}
        style={{ left: `${self ? start - 5 : start}px`, width: `${self ? 10 : end - start}px` }}
        aria-label={`from ${visible(message.from)} to ${visible(message.to)}`}
      />
      <span
        role="gridcell"
        class="message-type mono"
        style={{
          left: `${self ? start + 10 : start + 8}px`,
          maxWidth: `${self ? width * 1.4 : Math.max(width, end - start) - 16}px`,
        }}
      >
        {visible(message.type)}
        {who !== null && <span class="faint"> {visible(who)}</span>}
        {message.outcome !== 'changed' && <span class="outcome"> {visible(message.outcome)}</span>}
      </span>
    </div>
  );
}
