/** Why it does not move, in sentences: what it waits for, and who can supply what would help. */
import type { Explanation } from '../../server/contract.ts';
import { visible } from '../text/visible.ts';

export function WhyPanel({ explanation }: { readonly explanation: Explanation }) {
  return (
    <div class="why">
      <div class="sentences" data-explanation={explanation.version}>
        {explanation.sentences.map((sentence) => (
          <p key={sentence}>{visible(sentence)}</p>
        ))}
      </div>
      {explanation.unblocks.length > 0 && (
        <>
          <h3>What would help</h3>
          <ul class="unblocks">
            {explanation.unblocks.map(({ evidence, supplier, sentence }) => (
              <li key={evidence + supplier}>
                <span class="mono">{visible(evidence)}</span>
                <span class="faint"> from {visible(supplier)}</span>
                <p>{visible(sentence)}</p>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
