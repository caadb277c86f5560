/** Who told what to whom, as it happens and as it happened. */
import { useMemo, useState } from 'preact/hooks';
import type { Message } from '../../server/contract.ts';
import { narrow } from '../list/narrow.ts';
import { VirtualList } from '../list/virtualList.tsx';
import { bind, type KeyBinding, useKeys } from '../shell/keyboard.ts';
import { Empty, Failure, Loading } from '../shell/notice.tsx';
import { amend, hrefOf, route } from '../shell/route.ts';
import { visible } from '../text/visible.ts';
import { lanesOfKinds, lanesOfParties } from './lanes.ts';
import { MessageDetail } from './messageDetail.tsx';
import { MessageRow } from './messageRow.tsx';
import { messageKey, type Sequence, useSequence } from './useSequence.ts';

const rowHeight = 30;
const laneWidth = { wide: 150, narrow: 110 };
const gutter = { wide: 150, narrow: 64 };

export function SequenceView() {
  const { kind, id, goal } = route.value.query;
  const sequence = useSequence({ kind, id, goal });
  return (
    <div class="sequence">
      <SequenceHead sequence={sequence} />
      {sequence.error !== undefined && <Failure error={sequence.error} />}
      {!sequence.loaded && sequence.error === undefined && <Loading what="the messages" />}
      {sequence.loaded && <Messages sequence={sequence} />}
    </div>
  );
}

function SequenceHead({ sequence }: { readonly sequence: Sequence }) {
  const { kind, id, goal, type = '', lanes = '' } = route.value.query;
  return (
    <header class="view-head">
      <h1>Sequence</h1>
      {(id ?? goal) !== undefined && (
        <span class="chip">
          <span class="mono">{visible(id ?? goal)}</span>
          <a href={hrefOf(['sequence'])} aria-label="Messages of everybody">
            ✕
          </a>
        </span>
      )}
      <label>
        <span class="hidden">Only events whose type contains</span>
        <input
          id="sequence-search"
          type="search"
          placeholder="Event type  /"
          value={type}
          onInput={({ currentTarget }) => amend({ type: currentTarget.value })}
        />
      </label>
      <label>
        <span class="hidden">A lane for each</span>
        <select
          value={lanes || (kind || goal ? 'actors' : 'kinds')}
          onChange={(event) => amend({ lanes: event.currentTarget.value })}
        >
          <option value="kinds">A lane for each kind</option>
          <option value="actors">A lane for each actor</option>
        </select>
      </label>
      <button type="button" disabled={sequence.earlier === undefined} onClick={() => sequence.earlier?.()}>
        Earlier
      </button>
      <output class="found">{sequence.messages.length} messages</output>
    </header>
  );
}

function Messages({ sequence: { messages, parties } }: { readonly sequence: Sequence }) {
  const { kind, goal, type = '', lanes: wantedLanes } = route.value.query;
  const [chosen, choose] = useState<string | undefined>(undefined);
  const byActor = (wantedLanes ?? (kind || goal ? 'actors' : 'kinds')) === 'actors';
  const shown = useMemo(
    () => (type === '' ? messages : messages.filter((message) => message.type.includes(type))),
    [messages, type],
  );
  const { lanes, indexOf } = useMemo(
    () => (byActor ? lanesOfParties(parties, shown) : lanesOfKinds(parties, shown)),
    [byActor, parties, shown],
  );
  const selected = shown.findIndex((message) => messageKey(message) === chosen);
  useKeys(useMemo(() => messageKeys({ shown, selected, choose }), [shown, selected]));
  if (shown.length === 0) return <Empty title="No such message was sent." />;
  const width = narrow.value ? laneWidth.narrow : laneWidth.wide;
  const left = narrow.value ? gutter.narrow : gutter.wide;
  return (
    <>
      <VirtualList
        class="messages"
        label="Messages, oldest first; j and k move"
        count={shown.length}
        rowHeight={rowHeight}
        width={left + lanes.length * width}
        selected={selected}
        followEnd={chosen === undefined}
        idOf={(index) => `message-${shown[index]?.position}`}
        head={
          <div class="lane-heads" role="row" style={{ paddingLeft: `${left}px` }}>
            {lanes.map((lane) => (
              <span key={lane.key} class="lane-head" role="columnheader" tabIndex={-1} style={{ width: `${width}px` }}>
                <strong title={visible(lane.key)}>{visible(lane.label)}</strong>
                <span class="faint">{visible(lane.detail)}</span>
              </span>
            ))}
          </div>
        }
        row={(index) => {
          const message = shown[index]!;
          const key = messageKey(message);
          return (
            <MessageRow
              key={key}
              message={message}
              index={index}
              selected={index === selected}
              lanes={{ left, width, from: indexOf(message.from), to: indexOf(message.to), count: lanes.length }}
              choose={() => choose(key)}
            />
          );
        }}
      />
      {selected >= 0 && (
        <MessageDetail
          message={shown[selected]!}
          parties={parties}
          close={() => choose(undefined)}
          jump={(position) => {
            const cause = messages.find((message) => message.position === position);
            if (cause !== undefined) choose(messageKey(cause));
          }}
        />
      )}
    </>
  );
}

interface MessageKeys {
  readonly shown: readonly Message[];
  readonly selected: number;
  readonly choose: (key: string | undefined) => void;
}

function messageKeys({ shown, selected, choose }: MessageKeys): readonly KeyBinding[] {
  const move = (by: -1 | 1): undefined => {
    const from = selected === -1 ? (by === 1 ? shown.length - 2 : shown.length) : selected;
    const next = shown[Math.min(shown.length - 1, Math.max(0, from + by))];
    if (next !== undefined) choose(messageKey(next));
  };
  return [
    { keys: ['j', 'ArrowDown'], does: 'next message', run: () => move(1) },
    { keys: ['k', 'ArrowUp'], does: 'message before', run: () => move(-1) },
    bind(['/'], 'search', () => document.getElementById('sequence-search')?.focus()),
    bind(['Escape'], 'follow what happens again', () => {
      if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
      else choose(undefined);
    }),
  ];
}
