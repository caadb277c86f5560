/** Every event that the present state takes, and what each guard answers to it now. */
import type { GuardAnswer } from '../../explain/explanation.ts';
import { Badge } from '../shell/badge.tsx';
import { Empty } from '../shell/notice.tsx';
import type { Tone } from '../text/tone.ts';
import { inWords, visible } from '../text/visible.ts';

const answers: Readonly<Record<string, { readonly tone: Tone; readonly word: string }>> = {
  true: { tone: 'done', word: 'yes' },
  false: { tone: 'bad', word: 'no' },
  depends: { tone: 'waiting', word: 'depends' },
};

export function NextPanel({ next }: { readonly next: readonly GuardAnswer[] }) {
  if (next.length === 0) return <Empty title="Nothing moves it any more." />;
  const byEvent = Map.groupBy(next, ({ event }) => event);
  return (
    <ul class="next">
      {[...byEvent].map(([event, guards]) => (
        <li key={event}>
          <h3 class="mono">{visible(event)}</h3>
          <ul>
            {guards.map((one) => (
              <Guard key={`${one.guard} ${one.target}`} one={one} />
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function Guard({ one: { guard, answer, sentence, target } }: { readonly one: GuardAnswer }) {
  const { tone, word } = answers[String(answer)]!;
  return (
    <li>
      <Badge tone={tone}>{word}</Badge>
      <span class="guard">
        {guard !== '' && <span class="mono">{visible(guard)}</span>}
        <span class="faint">
          {' '}
          → {target === null ? 'stays' : visible(inWords(target.split('.').slice(1).join(' › ')))}
        </span>
        <p>{visible(sentence)}</p>
      </span>
    </li>
  );
}
