/** The state of the whole in one column: admission, slots, what is wrong, and how many there are of what. */
import { computed } from '@preact/signals';
import type { FindingView } from '../../server/contract.ts';
import { edition, overview, rows } from '../data/fleet.ts';
import { position, pulse } from '../data/updates.ts';
import { Sparkline } from '../metrics/sparkline.tsx';
import { Badge } from '../shell/badge.tsx';
import { amend, hrefOf, route } from '../shell/route.ts';
import { kindOrder, kinds } from '../text/kinds.ts';
import { amount } from '../text/quantity.ts';
import { type Tone, toneOfHealth, toneRank } from '../text/tone.ts';
import { inWords, visible } from '../text/visible.ts';
import { countsOf } from './selection.ts';

const counts = computed(() => {
  void edition.value;
  return countsOf(rows());
});

export function Glance() {
  return (
    <aside class="glance" aria-label="At a glance">
      <Installation />
      <Kinds />
      <Findings />
    </aside>
  );
}

const toneOfAdmission: Readonly<Record<string, Tone>> = { open: 'done', paused: 'waiting', closed: 'bad' };

function Installation() {
  const all = overview.value;
  if (all === undefined) return null;
  const { used, limit } = all.capacity;
  return (
    <dl class="facts">
      <div>
        <dt>Health</dt>
        <dd>
          <Badge tone={toneOfHealth[all.health.state] ?? 'warn'}>{inWords(all.health.state)}</Badge>
        </dd>
      </div>
      <div>
        <dt>Admission</dt>
        <dd>
          <Badge tone={toneOfAdmission[all.admission] ?? 'warn'}>{all.admission}</Badge>
        </dd>
      </div>
      <div>
        <dt>Daemon</dt>
        <dd>
          {inWords(all.lifecycle)} <span class="faint">{visible(all.version)}</span>
        </dd>
      </div>
      <div>
        <dt>Slots</dt>
        <dd>
          <meter min={0} max={Math.max(limit, 1)} value={used} aria-label="Slots in use" />
          <span class="mono">{`${used} of ${limit}`}</span>
        </dd>
      </div>
      <div>
        <dt>Events</dt>
        <dd>
          <Pulse />
          <span class="mono" data-position={position.value}>
            {amount(position.value)}
          </span>
        </dd>
      </div>
    </dl>
  );
}

const bucketMs = 2_000;
const buckets = 30;

/** Events that were heard of in the last minute, two seconds a step. */
function Pulse() {
  const now = Date.now();
  const heights = new Array<number>(buckets).fill(0);
  for (const at of pulse.value) {
    const index = buckets - 1 - Math.floor((now - at) / bucketMs);
    if (index >= 0) heights[index] = (heights[index] ?? 0) + 1;
  }
  return <Sparkline values={heights} label={`${pulse.value.length} events in the last two minutes`} />;
}

function Kinds() {
  const wanted = route.value.query.kind ?? '';
  return (
    <ul class="kinds" aria-label="Kinds">
      {kindOrder.map((kind) => {
        const count = counts.value.get(kind) ?? { total: 0, tones: {} };
        return (
          <li key={kind}>
            <button
              type="button"
              aria-pressed={wanted === kind}
              onClick={() => amend({ kind: wanted === kind ? undefined : kind })}
            >
              <span>{kinds[kind].many}</span>
              <Shares tones={count.tones} total={count.total} />
              <span class="mono" data-count={kind}>
                {amount(count.total)}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

interface SharesProps {
  readonly tones: Readonly<Partial<Record<Tone, number>>>;
  readonly total: number;
}

/** One bar in which every tone has its share; what needs somebody is never too small to be seen. */
function Shares({ tones, total }: SharesProps) {
  const parts = (Object.entries(tones) as [Tone, number][]).sort(([a], [b]) => toneRank[a] - toneRank[b]);
  const words = parts.map(([tone, count]) => `${count} ${tone}`).join(', ');
  return (
    <span class="shares" role="img" aria-label={words === '' ? 'none' : words} title={words}>
      {parts.map(([tone, count]) => (
        <span key={tone} class={`share tone-${tone}`} style={{ flexGrow: String(count / total) }} />
      ))}
    </span>
  );
}

function Findings() {
  const all = overview.value;
  const findings = [...(all?.findings ?? []), ...(all?.health.reasons ?? [])];
  const distinct = [...new Map(findings.map((one) => [`${one.code} ${one.scopeId} ${one.detail}`, one])).values()];
  return (
    <section class="findings" aria-labelledby="findings-title">
      <h2 id="findings-title">Findings</h2>
      {distinct.length === 0 ? (
        <p class="faint">Nothing was found that needs somebody.</p>
      ) : (
        <ul>
          {distinct.map((finding) => (
            <Finding key={`${finding.code} ${finding.scopeId} ${finding.detail}`} finding={finding} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Finding({ finding: { code, scopeId, runId, detail, next } }: { readonly finding: FindingView }) {
  const place = scopeId !== undefined ? ['executionScope', scopeId] : runId !== undefined ? ['run', runId] : undefined;
  return (
    <li>
      <Badge tone="warn">{visible(inWords(code))}</Badge>
      <p>{visible(detail)}</p>
      {place !== undefined && <a href={hrefOf(['actor', ...place])}>{visible(place[1])}</a>}
      {next.map((step) => (
        <p key={step}>
          <code>{visible(step)}</code>
        </p>
      ))}
    </li>
  );
}
