/** What one event changed: what it brought, and the fields of the context before and after. */
import type { EventView } from '../../server/contract.ts';
import { dateTime } from '../text/quantity.ts';
import { visible } from '../text/visible.ts';
import { differences } from './difference.ts';
import { Scalar, ValueTree } from './valueTree.tsx';

interface ChangePanelProps {
  readonly event: EventView;
  readonly before: Readonly<Record<string, unknown>> | undefined;
  readonly after: Readonly<Record<string, unknown>>;
  readonly transitions: readonly string[];
}

export function ChangePanel({ event, before, after, transitions }: ChangePanelProps) {
  const found = before === undefined ? [] : differences(before, after);
  return (
    <div class="change">
      <h3>
        <span class="mono">{visible(event.type)}</span> <span class="faint">#{event.position}</span>
      </h3>
      <p class="faint">
        {`${dateTime(event.wallMs)}, from ${visible(event.producer.kind)} `}
        <span class="mono">{visible(event.producer.id)}</span>
        {`: ${visible(event.outcome)}`}
      </p>
      {transitions.map((id) => (
        <p key={id} class="mono faint">
          {visible(id)}
        </p>
      ))}
      <h3>Context</h3>
      {before === undefined && <p class="faint">There is no moment before this one.</p>}
      {before !== undefined && found.length === 0 && <p class="faint">It changed nothing in the context.</p>}
      <ul class="differences">
        {found.map(({ path, before: was, after: is }) => (
          <li key={path.join('.')} data-path={path.join('.')}>
            <span class="mono path">{visible(path.join('.'))}</span>
            <span class="was">
              <span class="hidden">was </span>
              {typeof was === 'object' && was !== null ? <ValueTree value={was} depth={1} /> : <Scalar value={was} />}
            </span>
            <span class="is">
              <span class="hidden">is </span>
              {typeof is === 'object' && is !== null ? <ValueTree value={is} depth={1} /> : <Scalar value={is} />}
            </span>
          </li>
        ))}
      </ul>
      <h3>What the event brought</h3>
      <ValueTree value={event.payload} />
    </div>
  );
}
