import type { ReceiptView, ScopeTree } from '../../server/contract.ts';
import { Badge, StateBadges } from '../shell/badge.tsx';
import { hrefOf } from '../shell/route.ts';
import { signOf, type Tone, toneOfAssessment } from '../text/tone.ts';
import { inWords, visible } from '../text/visible.ts';
import { ProcessTree } from './processTree.tsx';

interface ScopeCardProps {
  readonly scope: ScopeTree;
  readonly inside: ReadonlyMap<string, readonly ScopeTree[]>;
}

export function ScopeCard({ scope, inside }: ScopeCardProps) {
  const nested = inside.get(scope.scopeId) ?? [];
  return (
    <li class={`scope tone-${toneOfAssessment(scope.assessment)}`} data-scope={scope.scopeId}>
      <ScopeHead scope={scope} />
      <div class="scope-body">
        <Receipts receipts={scope.receipts} />
        <Sentences scope={scope} />
        <ProcessTree scope={scope} />
      </div>
      {nested.length > 0 && (
        <ul class="scopes nested" aria-label="Scopes inside of it">
          {nested.map((one) => (
            <ScopeCard key={one.scopeId} scope={one} inside={inside} />
          ))}
        </ul>
      )}
    </li>
  );
}

function ScopeHead({ scope }: { readonly scope: ScopeTree }) {
  const { scopeId, kind, purpose, assessment, runId, goalId, summary } = scope;
  return (
    <header>
      <h2>
        <a href={hrefOf(['processes', scopeId])} class="mono">
          {visible(scopeId)}
        </a>
        <span class="faint">{visible([inWords(kind), purpose].filter(Boolean).join(', '))}</span>
      </h2>
      <Badge tone={toneOfAssessment(assessment)}>{visible(words(assessment))}</Badge>
      <span>{visible(summary)}</span>
      {!/^(idle|settled)$/.test(scope.termination) && <StateBadges states={[scope.termination]} />}
      <span class="links">
        <a href={hrefOf(['actor', 'executionScope', scopeId])}>scope</a>
        {runId !== null && <a href={hrefOf(['actor', 'run', runId])}>run</a>}
        {goalId !== null && <a href={hrefOf(['actor', 'goal', goalId])}>Goal</a>}
      </span>
    </header>
  );
}

function words(assessment: ScopeTree['assessment']): string {
  if (assessment.state === 'live') return 'live';
  if (assessment.state === 'exited') return `gone, by ${inWords(assessment.proof)}`;
  if (assessment.assumed !== undefined) return `assumed gone, not proved: ${inWords(assessment.reason)}`;
  return `unverified (${assessment.certainty}): ${inWords(assessment.reason)}`;
}

const toneOfReceipt: Readonly<Record<ReceiptView['status'], Tone>> = {
  absent: 'idle',
  authentic: 'done',
  not_authentic: 'bad',
};

function Receipts({ receipts }: { readonly receipts: readonly ReceiptView[] | null }) {
  if (receipts === null) return null;
  return (
    <ul class="receipts" aria-label="Receipts of the guardian">
      {receipts.map(({ kind, status, reason, digest, receipt }) => (
        <li key={kind} data-receipt={kind}>
          <details>
            <summary>
              <Badge tone={toneOfReceipt[status]}>{`${kind}: ${inWords(status)}`}</Badge>
            </summary>
            {reason !== undefined && <p>{visible(reason)}</p>}
            {digest !== undefined && <p class="mono digest">{visible(digest)}</p>}
            {receipt !== undefined && <pre class="mono">{visibleJson(receipt)}</pre>}
          </details>
        </li>
      ))}
    </ul>
  );
}

const visibleJson = (value: unknown): string => JSON.stringify(value, null, 2).split('\n').map(visible).join('\n');

function Sentences({ scope: { proved, missing, assessment } }: { readonly scope: ScopeTree }) {
  // Of what is alive nothing has to be proved yet: that is no alarm.
  const isWell = assessment.state === 'live';
  const tone: Tone = isWell ? 'idle' : 'warn';
  return (
    <div class="proofs">
      {proved.length > 0 && (
        <ul aria-label="Proved">
          {proved.map((sentence) => (
            <li key={sentence} class="tone-done">
              <span class="sign" aria-hidden="true">
                ✓
              </span>
              {visible(sentence)}
            </li>
          ))}
        </ul>
      )}
      {missing.length > 0 && (
        <details open={!isWell}>
          <summary class={isWell ? 'faint' : ''}>{isWell ? 'What will prove its end' : 'What would help'}</summary>
          <ul aria-label="Missing">
            {missing.map((sentence) => (
              <li key={sentence} class={`tone-${tone}`}>
                <span class="sign" aria-hidden="true">
                  {signOf[tone]}
                </span>
                {visible(sentence)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
