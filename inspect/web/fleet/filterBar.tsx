import { createRef } from 'preact';
import { rows } from '../data/fleet.ts';
import { amend } from '../shell/route.ts';
import { kindOrder, kinds } from '../text/kinds.ts';
import { amount } from '../text/quantity.ts';
import { signOf, type Tone, toneRank } from '../text/tone.ts';
import { isHidden, type Wanted } from './selection.ts';

export const searchField = createRef<HTMLInputElement>();

const toneWords: Readonly<Record<Tone, string>> = {
  bad: 'failed',
  warn: 'not proved',
  waiting: 'waiting',
  live: 'at work',
  idle: 'at rest',
  done: 'ended well',
};
const tones = (Object.keys(toneRank) as Tone[]).sort((a, b) => toneRank[a] - toneRank[b]);

export function FilterBar({ wanted, found }: { readonly wanted: Wanted; readonly found: number }) {
  return (
    <search class="filters">
      <label class="search">
        <span class="hidden">Search actors</span>
        <input
          ref={searchField}
          type="search"
          placeholder="Search  /"
          autocomplete="off"
          spellcheck={false}
          value={wanted.text}
          onInput={({ currentTarget }) => amend({ q: currentTarget.value })}
        />
      </label>
      <label>
        <span class="hidden">Kind</span>
        <select value={wanted.kind} onChange={({ currentTarget }) => amend({ kind: currentTarget.value })}>
          <option value="">All kinds</option>
          {kindOrder.map((kind) => (
            <option key={kind} value={kind}>
              {kinds[kind].many}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="hidden">State</span>
        <select value={wanted.tone} onChange={({ currentTarget }) => amend({ tone: currentTarget.value })}>
          <option value="">Any state</option>
          {tones.map((tone) => (
            <option key={tone} value={tone}>
              {`${signOf[tone]} ${toneWords[tone]}`}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="hidden">Order</span>
        <select value={wanted.sort} onChange={({ currentTarget }) => amend({ sort: currentTarget.value })}>
          <option value="attention">Needs attention first</option>
          <option value="kind">By kind</option>
          <option value="newest">Last changed first</option>
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={wanted.internal}
          onChange={({ currentTarget }) => amend({ internal: currentTarget.checked ? '1' : undefined })}
        />
        {`${amount(rows().filter(isHidden).length)} own operations`}
      </label>
      <output class="found">
        {found === rows().length ? amount(found) : `${amount(found)} of ${amount(rows().length)}`}
      </output>
    </search>
  );
}
