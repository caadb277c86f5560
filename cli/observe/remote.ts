/** The daemon as an observer: the same verbs over its socket. */
import type { CallName } from '../../actors/daemon/api/contract.ts';
import type { CallResults } from '../../actors/daemon/api/results.ts';
import type { Client } from '../client.ts';
import { fromApi } from '../failure.ts';
import type { AnyObserver } from './anyObserver.ts';

export function remoteObserver(client: Client): AnyObserver {
  async function ask<Name extends CallName>(name: Name, args: object): Promise<CallResults[Name]> {
    const reply = await client.call<CallResults[Name]>(name, args);
    if (!reply.ok) throw fromApi(reply.error);
    return reply.data;
  }
  return {
    sink: {
      progress: (name) => ask('observe.progress', name),
      take: async (notes) => (await ask('observe.take', { notes })).outcomes,
      account: async (account) => (await ask('observe.account', account)).lost,
    },
    importLegacy: async (request) => (await ask('observe.import', request)).answers,
    takeSpool: (maxCount) => ask('observe.takeSpool', { maxCount }),
    reconcile: (bounds) => ask('observe.reconcile', bounds),
    status: () => ask('observe.status', {}),
    coverage: (request) => ask('observe.coverage', request),
    metrics: (request) => ask('observe.metrics', request),
    exposition: async () => (await ask('observe.exposition', {})).text,
  };
}
