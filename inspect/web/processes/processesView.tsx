/** What the kernel shows of every scope now, and what of it is proved. */
import { useEffect, useMemo } from 'preact/hooks';
import { type ProcessesAnswer, routes, type ScopeTree } from '../../server/contract.ts';
import { useResource } from '../data/resource.ts';
import { pathOf } from '../data/server.ts';
import { Empty, Failure, Loading } from '../shell/notice.tsx';
import { amend, hrefOf, route } from '../shell/route.ts';
import { clockTime } from '../text/quantity.ts';
import { visible } from '../text/visible.ts';
import { ScopeCard } from './scopeCard.tsx';

/** The kernel announces no births: what is on screen is asked for again after so long, and not with every commit, for each
 *  of the guardians answers. */
const refreshMs = 2_000;

export function ProcessesView({ scopeId }: { readonly scopeId: string | undefined }) {
  const all = route.value.query.all === '1';
  const path =
    scopeId === undefined
      ? pathOf(routes.processes, {}, { all: all ? '1' : undefined })
      : pathOf(routes.processesOfScope, { id: scopeId });
  const { data, error, reload } = useResource<ProcessesAnswer>(path);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, refreshMs);
    return () => clearInterval(timer);
  }, [reload]);
  return (
    <div class="processes">
      <header class="view-head">
        <h1>Processes</h1>
        {scopeId === undefined ? (
          <label class="check">
            <input
              type="checkbox"
              checked={all}
              onChange={(event) => amend({ all: event.currentTarget.checked ? '1' : undefined })}
            />
            those that are proved to be gone too
          </label>
        ) : (
          <span class="chip">
            <span class="mono">{visible(scopeId)}</span>
            <a href={hrefOf(['processes'])} aria-label="All scopes">
              ✕
            </a>
          </span>
        )}
        {data !== undefined && <span class="faint">{`as of ${clockTime(data.atWallMs)}`}</span>}
      </header>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {data === undefined && error === undefined && <Loading what="the processes" />}
      {data !== undefined && <Scopes answer={data} alone={scopeId !== undefined} />}
    </div>
  );
}

function Scopes({ answer, alone }: { readonly answer: ProcessesAnswer; readonly alone: boolean }) {
  const nested = useMemo(() => nestedIn(answer.scopes), [answer]);
  if (answer.scopes.length === 0)
    return (
      <Empty
        title={alone ? 'There is no such scope.' : 'No process tree is owned now: everything is proved to be gone.'}
      />
    );
  return (
    <ul class="scopes">
      {nested.roots.map((scope) => (
        <ScopeCard key={scope.scopeId} scope={scope} inside={nested.inside} />
      ))}
      {answer.more && <li class="faint">There are more than are shown here.</li>}
    </ul>
  );
}

export interface Nested {
  readonly roots: readonly ScopeTree[];
  readonly inside: ReadonlyMap<string, readonly ScopeTree[]>;
}

function nestedIn(scopes: readonly ScopeTree[]): Nested {
  const known = new Set(scopes.map(({ scopeId }) => scopeId));
  const inside = Map.groupBy(scopes, ({ parentScopeId }) => parentScopeId ?? '');
  return {
    roots: scopes.filter(({ parentScopeId }) => parentScopeId === null || !known.has(parentScopeId)),
    inside,
  };
}
