/**
 * The inspector over a real store and a real host in this process, without the rest of a daemon: for what takes ten
 * thousand actors, and commits faster than calls of the API bring them.
 */
import { onTestFinished } from 'vitest';
import type { HealthView } from '../../../../actors/daemon/api/views.ts';
import type { InspectedDaemon } from '../../../../actors/daemon/inspector/port.ts';
import type { Host } from '../../../../actors/host/api.ts';
import { createHost } from '../../../../actors/host/host.ts';
import { createSystemClock } from '../../../../actors/observe/linux/clock.ts';
import { draft } from '../../../../actors/runtime/submission.ts';
import { type Opened, routes } from '../../../../inspect/server/contract.ts';
import { createInspector } from '../../../../inspect/server/inspector.ts';
import { protocol } from '../../../../machines/protocol.ts';
import type { Store } from '../../../../persistence/store.ts';
import { newStore } from '../../../persistence/support/temporaryStore.ts';
import { codeIn, Page, redeem } from './page.ts';

const nowhere = new URL('./nothing/', import.meta.url);

const health: HealthView = { state: 'ok', digest: '', reasons: [], next: [] };

const goalId = (number: number): string => `G${String(number).padStart(9, '0')}`;

export interface HostedOptions {
  /** Directory of the files of the page. */
  readonly assets?: URL;
  /** What is otherwise than in a daemon that is well. */
  readonly daemon?: Partial<InspectedDaemon>;
}

interface Opening {
  readonly close: () => Promise<void>;
  /** The address that lets one browser in. */
  readonly offer: () => string;
}

export interface Hosted {
  readonly store: Store;
  readonly host: Host;
  /** As much of a daemon as the inspector needs for Goals. */
  readonly daemon: InspectedDaemon;
  /** Makes Goals number `from` to `to` (exclusive), as many in a transaction as fit. */
  readonly addGoals: (from: number, to: number, title?: string) => Promise<void>;
  readonly idOf: (number: number) => string;
  /** Starts the inspector over what is there. */
  readonly open: (options?: HostedOptions) => Promise<Page & Opening>;
}

export function hosted(): Hosted {
  const clock = createSystemClock();
  const store = newStore({ clock });
  const host = createHost({ ...protocol, store, clock });
  onTestFinished(() => host.close());
  const daemon = {
    ...{ store, host, clock, version: '0.0.0-test', log: console },
    health: () => health,
    capacity: () => ({ used: 0, limit: 0, scopeIds: [] }),
    admission: () => 'open',
    lifecycle: () => 'serving',
    pendingLaunches: { get: () => undefined },
  } as unknown as InspectedDaemon;
  const created = (number: number, title: string) => {
    const payload = { goalId: goalId(number), title, nodeId: store.nodeId, priority: 0, repoId: null };
    return draft('goal.created', { to: ['goal', goalId(number)], payload: payload as never, by: 'test' });
  };
  return {
    host,
    daemon,
    store,
    idOf: goalId,
    async addGoals(from, to, title = 'one of many') {
      for (let at = from; at < to; at += 200) {
        const count = Math.min(200, to - at);
        await host.submit(Array.from({ length: count }, (_, n) => created(at + n, title)));
      }
    },
    async open({ assets = nowhere, daemon: changed = {} } = {}) {
      const shown = { ...daemon, ...changed };
      const inspector = await createInspector({ assets, thread: nowhere }).listen(shown, { tcpPort: 0 });
      onTestFinished(() => inspector.close());
      const { url, inspectionUrl } = inspector.offer({ control: false, origins: [] });
      const { token } = JSON.parse((await redeem(inspector.tcpPort, codeIn(url))).text) as Opened;
      const page = new Page({ port: inspector.tcpPort, token, inspectionUrl });
      return Object.assign(page, {
        close: () => inspector.close(),
        offer: () => inspector.offer({ control: false, origins: [] }).url,
      });
    },
  };
}

export const fleetPath = routes.fleet;
