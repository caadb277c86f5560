import type { ActorAnswer, ActorLink, ActorRow } from '../../server/contract.ts';
import { Controls } from '../control/controls.tsx';
import { rowOf } from '../data/fleet.ts';
import { Badge, StateBadges } from '../shell/badge.tsx';
import { hrefOf } from '../shell/route.ts';
import { kinds, kindWord } from '../text/kinds.ts';
import { endWords, toneOfEnd } from '../text/tone.ts';
import { visible } from '../text/visible.ts';

const mostLinks = 4;
const longestLabel = 24;

/** The end of a path says more than its beginning; what has no name is called by its id. */
function labelOf({ kind, id }: ActorLink): string {
  const name = rowOf(kind, id)?.label?.split('/').at(-1) || id;
  return name.length > longestLabel ? `${name.slice(0, longestLabel)}…` : name;
}

/** Of one relation and kind each, in their order. */
const groupsOf = (links: readonly ActorLink[]): readonly (readonly ActorLink[])[] => [
  ...Map.groupBy(links, ({ relation, kind }) => `${relation} ${kind}`).values(),
];

interface LinksProps {
  readonly of: { readonly kind: string; readonly id: string };
  readonly links: readonly ActorLink[];
}

/** `root scope build`, or `12 runs` where there are several: the fleet lists those of a Goal. */
function Links({ of, links }: LinksProps) {
  const [first] = links;
  if (first === undefined) return null;
  const words = `${links.length} ${kinds[first.kind].many.toLowerCase()}`;
  if (links.length > 1 && of.kind === 'goal')
    return <a href={hrefOf(['fleet'], { kind: first.kind, q: of.id })}>{words}</a>;
  return (
    <>
      {links.length > 1 && <span class="faint">{`${words}:`}</span>}
      {links.slice(0, mostLinks).map((link) => (
        <a key={link.id} href={hrefOf(['actor', link.kind, link.id])} title={visible(link.id)}>
          {visible(links.length > 1 ? labelOf(link) : `${link.relation} ${labelOf(link)}`)}
        </a>
      ))}
      {links.length > mostLinks && <span class="faint">{`and ${links.length - mostLinks} more`}</span>}
    </>
  );
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
          {groupsOf(answer?.links ?? []).map((links) => (
            <Links key={links[0]?.relation} of={{ kind, id }} links={links} />
          ))}
          {kind === 'goal' ? (
            <a href={hrefOf(['sequence'], { goal: id })}>messages</a>
          ) : (
            <a href={hrefOf(['sequence'], { kind, id })}>messages to it</a>
          )}
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
