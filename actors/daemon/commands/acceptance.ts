/** Keeps what an acceptance run has observed, if it tried what runs here (PROMO-08). */
import { acceptanceOf, differenceOf, readinessOf } from '../../promotion/acceptance.ts';
import { lackingOf } from '../../promotion/acceptanceSchema.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { contractStanding, triedHere } from '../promotion/gateReport.ts';

/** Throws `acceptance_refused` (exit 13). */
export async function recordAcceptance(
  context: DaemonContext,
  { report }: ParsedArguments<'acceptance.record'>,
): Promise<Answer<CallResults['acceptance.record']>> {
  const { store, clock } = context;
  const tried = triedHere(context);
  const other = differenceOf(report, tried);
  if (other !== undefined) throw refused(`it tried another ${other} than the one that runs here`);
  const lacking = lackingOf(report);
  if (report.verdict === 'ready' && lacking.length > 0)
    throw refused(`it says ready, and lacks ${lacking.map(({ id }) => id).join(', ')}`);
  const digest = store.write(() => store.acceptanceReports.insert(clock.now().wallMs, report));
  const kept = acceptanceOf(store.acceptanceReports.newest(), tried);
  return { data: { digest, readiness: readinessOf(kept, contractStanding(context)) } };
}

const refused = (why: string): OperatingError =>
  new OperatingError({
    code: 'acceptance_refused',
    message: `the acceptance report is not kept: ${why}`,
    exitCode: 13,
    next: ['custody daemon restart --keep-work', 'custody acceptance --record'],
  });
