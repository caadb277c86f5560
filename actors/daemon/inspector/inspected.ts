/** The daemon as an inspector sees it: its views, and its API with the authority of the operator. */
import { committed, intact } from '../../runtime/actorAccess.ts';
import { operatorCredential, operatorKey } from '../../runtime/credentials.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { callSchemas } from '../api/contract.ts';
import type { Reply } from '../api/views.ts';
import { authorise } from '../authorise.ts';
import { dispatch, type ServingContext } from '../dispatch.ts';
import { healthOf } from '../health.ts';
import { slotsInUse } from '../launch/admission.ts';
import { admissionOf, lifecycleOf } from '../root.ts';
import { receiptViews } from '../views/runView.ts';
import { scopeView } from '../views/scopeView.ts';
import type { InspectedDaemon } from './port.ts';

export function inspectedDaemon(context: ServingContext): InspectedDaemon {
  const { host, config, places, root, guardians, observer } = context;
  const credential = () => operatorCredential(operatorKey(places));
  const call = async (name: keyof typeof callSchemas, args: unknown, signal: AbortSignal): Promise<Reply<unknown>> => {
    authorise(context, name, credential());
    const parsed = callSchemas[name].safeParse(args);
    if (!parsed.success)
      throw new OperatingError({
        code: 'invalid_event',
        message: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
        exitCode: 2,
      });
    return dispatch(context, name, { args: parsed.data, signal });
  };
  return {
    ...context,
    call: call as InspectedDaemon['call'],
    health: () => healthOf(context),
    capacity() {
      const used = slotsInUse(context);
      return { used: used.length, limit: config.capacity, scopeIds: used.map(({ scopeId }) => scopeId) };
    },
    admission: () => admissionOf(root),
    lifecycle: () => lifecycleOf(root),
    async scope(scopeId) {
      const scope = intact(host, 'executionScope', scopeId);
      if (scope === undefined || scope === 'corrupt') return undefined;
      const isOver = scope.hasTag('capacityReleased');
      return scopeView(context, scope, isOver ? undefined : await guardians.members(scopeId));
    },
    receiptsOf(scopeId) {
      const scope = committed(host, 'executionScope', scopeId);
      return scope === undefined ? [] : receiptViews(context, scope);
    },
    measured: observer.metrics,
    credential,
  };
}
