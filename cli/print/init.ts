/** What init found and made. */
import type { InitView } from '../../actors/daemon/initialise.ts';
import { checkLines } from './checks.ts';
import { line } from './escape.ts';
import type { Style } from './style.ts';
import { fields } from './table.ts';
import { wrapped } from './wrap.ts';

/** While a daemon holds the store, nobody else opens it; that it serves says that there is nothing to initialise. */
export interface ServedView {
  readonly stateDir: string;
  readonly created: false;
  readonly servedByPid: number;
}

const extent = (subset: InitView['contract']['subset']): string =>
  subset === 'full' ? 'with the whole battery' : 'with its quickest checks; the daemon tries the rest';

export function initLines(view: Omit<InitView, 'warnings'> | ServedView, style: Style): string[] {
  const { stateDir, created } = view;
  const state = created ? 'created' : 'was there already';
  if ('servedByPid' in view) {
    return fields(
      [
        ['state', stateDir],
        ['store', `${state}; the daemon (pid ${view.servedByPid}) serves it`],
      ],
      style,
    );
  }
  const { installationId, filesystem, journalMode, synchronous, contract, doesNotCover } = view;
  return [
    ...fields(
      [
        ['state', stateDir],
        ['store', `${state}, ${journalMode}, synchronous ${synchronous}, on ${filesystem}`],
        ['installation', installationId],
        [
          'contract',
          contract.verified
            ? { text: `${contract.name} verified on this host, ${extent(contract.subset)}`, paint: style.green }
            : { text: `${contract.name} NOT verified on this host`, paint: style.red },
        ],
      ],
      style,
    ),
    ...checkLines(contract.checks, style),
    ...(doesNotCover.length > 0 ? [style.dim('an exit proof does not cover:')] : []),
    ...doesNotCover.flatMap((text) => wrapped(line`  ${text}`, { hang: 4 })),
    ...(created ? [style.dim('next: custody goals add TITLE --request FILE')] : []),
  ];
}
