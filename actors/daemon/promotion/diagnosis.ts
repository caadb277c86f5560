/** What `doctor` says of promotion: nothing while nobody has set a stage. */
import { StoreError } from '../../../persistence/errors.ts';
import { acceptanceOf, readinessOf } from '../../promotion/acceptance.ts';
import type { CheckView } from '../api/views.ts';
import { contractStanding, type GateContext, triedHere } from './gateReport.ts';

/** A damaged record is a finding like any other, which the full check names. */
export function promotionChecks(context: GateContext): CheckView[] {
  try {
    return standing(context);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const fix = 'put a backup in the place of the store';
    return [{ id: 'promotion', ok: false, severity: 'error', detail: `${error.code}: ${error.message}`, fix }];
  }
}

/** No fault: a repository may stay in any stage for as long as somebody likes. */
function standing(context: GateContext): CheckView[] {
  const { store } = context;
  const promotions = store.promotions.list();
  if (promotions.length === 0) return [];
  const acceptance = acceptanceOf(store.acceptanceReports.newest(), triedHere(context));
  const { state, lacks } = readinessOf(acceptance, contractStanding(context));
  const stages = promotions.map(({ path, stage }) => `${path} is in stage ${stage}`).join('; ');
  const active = state === 'ready' ? 'ready' : `not_ready (${lacks.map(({ code }) => code).join(', ')})`;
  const detail = `${stages}; for active use: ${active}`;
  return [{ id: 'promotion', ok: true, severity: 'info', detail, fix: state === 'ready' ? null : 'custody promote' }];
}
