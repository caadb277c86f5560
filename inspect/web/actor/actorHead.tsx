import type { ActorAnswer, ActorLink, ActorRow } from '../../server/contract.ts';
import { Controls } from '../control/controls.tsx';
import { rowOf } from '../data/fleet.ts';
import { Badge, StateBadges } from '../shell/badge.tsx';
import { hrefOf } from '../shell/route.ts';
import { kindWord } from '../text/kinds.ts';
import { endWords, toneOfEnd } from '../text/tone.ts';
import { visible } from '../text/visible.ts';

const mostLinks = 8;
const longestLabel = 24;

/** The end of a path says more than its beginning. */
function labelOf({ kind, id }: ActorLink): string {
  const name = rowOf(kind, id)?.label?.split('/').at(-1) ?? '';
  return name.length > longestLabel ? `${name.slice(0, longestLabel)}…` : name;
}

interface ActorHeadProps {
  readonly kind: string;
  readonly id: string;
  readonly row: ActorRow | undefined;
  readonly answer: ActorAnswer | undefined;
  /** As shown: of now or of the past. */
  readonly state: readonly string[];
  readonly version: number | undefined;
  readonly past: boolean;
}

export function ActorHead({ kind, id, row, answer, state, version, past }: ActorHeadProps) {
  const label = row?.label ?? answer?.row.label ?? null;
  return (
    <header class="actor-head">
      <nav class="crumbs" aria-label="Where this is">
        <a href={hrefOf(['fleet'])}>Fleet</a>
        <span aria-hidden="true"> / </span>
        <a href={hrefOf(['fleet'], { kind })}>{kindWord(kind)}</a>
      </nav>
      <h1>
        {label === null || label === '' ? <span class="mono">{visible(id)}</span> : visible(label)}
        {label !== null && label !== '' && <span class="mono faint id">{visible(id)}</span>}
      </h1>
      <div class="actor-facts">
        <StateBadges states={state} />
        {row !== undefined && !past && <End row={row} />}
        {version !== undefined && <span class="faint" data-version={version}>{`version ${version}`}</span>}
        {answer !== undefined && (
          <span class="faint" title={answer.definition.structuralHash}>{`chart v${answer.definition.version}`}</span>
        )}
        <span class="links">
          {answer?.links.slice(0, mostLinks).map((link) => (
            <a
              key={`${link.relation} ${link.id}`}
              href={hrefOf(['actor', link.kind, link.id])}
              title={visible(link.id)}
            >
              {visible([link.relation, labelOf(link)].filter(Boolean).join(' '))}
            </a>
          ))}
          {answer !== undefined && answer.links.length > mostLinks && (
            <span class="faint">{`and ${answer.links.length - mostLinks} more`}</span>
          )}
          <a href={hrefOf(['sequence'], { kind, id })}>messages</a>
          {kind === 'executionScope' && <a href={hrefOf(['processes', id])}>processes</a>}
          {kind === 'ptySession' && <a href={hrefOf(['terminal', id])}>terminal</a>}
          {kind === 'goal' && <a href={hrefOf(['timeline', id])}>timeline</a>}
        </span>
        {row !== undefined && <Controls row={row} />}
      </div>
    </header>
  );
}

/** How its process ended, which no state of its chart says. */
function End({ row }: { readonly row: ActorRow }) {
  const tone = toneOfEnd(row);
  if (tone === undefined) return null;
  return (
    <strong data-end={tone}>
      <Badge tone={tone}>{visible(endWords(row))}</Badge>
    </strong>
  );
}
