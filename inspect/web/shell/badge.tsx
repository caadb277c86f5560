import type { ComponentChildren } from 'preact';
import { signOf, type Tone, toneOfState } from '../text/tone.ts';
import { stateInWords, visible } from '../text/visible.ts';

/** A word with the sign and colour of its tone. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <span class={`badge tone-${tone}`}>
      <span class="sign" aria-hidden="true">
        {signOf[tone]}
      </span>
      {children}
    </span>
  );
}

/** The last part of a leaf state is what people call it; the whole path is there on demand. */
export function StateBadge({ state }: { readonly state: string }) {
  return (
    <span title={visible(state)}>
      <Badge tone={toneOfState(state)}>{visible(stateInWords(state))}</Badge>
    </span>
  );
}

export function StateBadges({ states }: { readonly states: readonly string[] }) {
  return (
    <span class="badges">
      {states.map((state) => (
        <StateBadge key={state} state={state} />
      ))}
    </span>
  );
}
