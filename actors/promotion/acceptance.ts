/** Whether the newest acceptance report speaks of this program on this host, and what it lacks (PROMO-08). */
import type { StoredAcceptanceReport } from '../../persistence/tables/acceptanceReports.ts';
import type { AcceptanceReport } from './acceptanceReport.ts';
import { acceptanceReportSchema, lackingOf } from './acceptanceSchema.ts';

/** What runs here: another program, kernel or guardian has not been tried. */
export interface Tried {
  readonly programDigest: string;
  readonly kernel: string;
  readonly guardianDigest: string;
}

export type Acceptance =
  | { readonly state: 'none' }
  | { readonly state: 'damaged'; readonly digest: string }
  | { readonly state: 'other'; readonly what: Difference; readonly digest: string; readonly wallMs: number }
  | {
      readonly state: 'usable';
      readonly report: AcceptanceReport;
      readonly digest: string;
      readonly wallMs: number;
    };

export type Difference = 'program' | 'kernel' | 'guardian';

export function differenceOf({ program, host }: AcceptanceReport, tried: Tried): Difference | undefined {
  if (program.digest !== tried.programDigest) return 'program';
  if (host.kernel !== tried.kernel) return 'kernel';
  return host.guardianDigest === tried.guardianDigest ? undefined : 'guardian';
}

export function acceptanceOf(stored: StoredAcceptanceReport | undefined, tried: Tried): Acceptance {
  if (stored === undefined) return { state: 'none' };
  const { digest, wallMs } = stored;
  const parsed = acceptanceReportSchema.safeParse(stored.report);
  if (!parsed.success) return { state: 'damaged', digest };
  const what = differenceOf(parsed.data, tried);
  if (what !== undefined) return { state: 'other', what, digest, wallMs };
  return { state: 'usable', report: parsed.data, digest, wallMs };
}

export interface Readiness {
  readonly state: 'ready' | 'not_ready';
  readonly lacks: readonly { readonly code: string; readonly detail: string; readonly next: readonly string[] }[];
}

const again = ['custody acceptance --record'];

/** Never `ready` while anything lacks verification, whatever the report says of itself. */
export function readinessOf(acceptance: Acceptance, contract: ContractStanding): Readiness {
  const lacks = [...contractLack(contract), ...reportLacks(acceptance)];
  return { state: lacks.length === 0 ? 'ready' : 'not_ready', lacks };
}

/** How much of the containment battery this kernel and this guardian have passed (PROMO-06). */
export type ContractStanding = 'full' | 'short' | 'none';

const contractLack = (contract: ContractStanding): Readiness['lacks'] =>
  contract === 'full'
    ? []
    : [
        {
          code: 'containment_contract',
          detail:
            contract === 'short'
              ? 'only the short part of the containment battery was run on this host'
              : 'no containment contract is verified for this kernel and guardian',
          next: ['custody contract verify'],
        },
      ];

function reportLacks(acceptance: Acceptance): Readiness['lacks'] {
  switch (acceptance.state) {
    case 'none':
      return [{ code: 'acceptance', detail: 'no acceptance run was recorded on this host', next: again }];
    case 'damaged':
      return [{ code: 'acceptance', detail: 'the record of the newest acceptance run is damaged', next: again }];
    case 'other':
      return [
        { code: 'acceptance', detail: `the newest acceptance run tried another ${acceptance.what}`, next: again },
      ];
    case 'usable':
      return lackingOf(acceptance.report).map(({ id, verdict }) => ({
        code: id,
        detail: verdict === 'failed' ? `${id} has failed` : `${id} was not tried`,
        next: again,
      }));
  }
}
