/** What `doctor` says of promotion: nothing while nobody has set a stage. */
import { acceptanceOf, readinessOf } from '../../promotion/acceptance.ts';
import type { CheckView } from '../api/views.ts';
import { contractStanding, type GateContext, triedHere } from './gateReport.ts';

/** No fault: a repository may stay in any stage for as long as somebody likes. */
export function promotionChecks(context: GateContext): CheckView[] {
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
