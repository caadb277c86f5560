/** The inspector as a whole: one HTTP server on the loopback address, and everything that it shows. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createAdaptorServer } from '@hono/node-server';
import type {
  InspectedDaemon,
  InspectorPlace,
  InspectorPort,
  PageGrant,
  RunningInspector,
} from '../../actors/daemon/inspector/port.ts';
import { intact } from '../../actors/runtime/actorAccess.ts';
import { codeLifeMs, Grants } from './access/grants.ts';
import { Histories } from './actors/history.ts';
import { type AppParts, createApp } from './app.ts';
import { readAssets } from './assets.ts';
import { Fleet } from './fleet/fleet.ts';
import { InspectionSockets, socketPath } from './stately/sockets.ts';
import { Beside } from './thread/beside.ts';
import { Overview } from './updates/overview.ts';
import { Updates } from './updates/updates.ts';

/** Nobody outside of this machine, and no other name for it. */
const loopback = '127.0.0.1';
/** What one browser opens, many times over. */
const mostConnections = 256;

/** As browsers say it in Host and Origin: the port of the scheme is left out (RFC 9110, 4.2.3). */
export const authorityOf = (port: number): string => (port === 80 ? loopback : `${loopback}:${port}`);

export interface InspectorPrograms {
  /** The files of the page. */
  readonly assets: URL;
  /** Entry of the thread that draws and renders. */
  readonly thread: URL;
}

export const createInspector = ({ assets, thread }: InspectorPrograms): InspectorPort => ({
  async listen(daemon, place) {
    const files = readAssets(fileURLToPath(assets));
    let port = place.tcpPort;
    const own = () => authorityOf(port);
    const built = build(daemon, { assets: files, own, beside: new Beside(thread, daemon.clock) });
    const { server, close } = built;
    try {
      await listening(server, place);
    } catch (error) {
      await close();
      throw error;
    }
    port = (server.address() as { readonly port: number }).port;
    return running(built, port);
  },
});

interface Built extends AppParts {
  readonly server: Server;
  readonly close: () => Promise<void>;
}

function build(daemon: InspectedDaemon, given: Pick<AppParts, 'assets' | 'own' | 'beside'>): Built {
  const { store, host, clock } = daemon;
  const fleet = new Fleet(store);
  const overview = new Overview(daemon);
  const updates = new Updates({ daemon, fleet, overview });
  overview.follow(
    () => updates.clients > 0,
    (fields) => updates.tellOverview(fields),
  );
  const grants = new Grants(() => clock.monoMs());
  const histories = new Histories({
    store,
    headOf(kind, id) {
      const snapshot = intact(host, kind, id);
      if (snapshot === undefined || snapshot === 'corrupt') return undefined;
      return { snapshot, version: host.versionOf(kind, id) ?? 0 };
    },
  });
  const parts: AppParts = { daemon, grants, fleet, updates, overview, histories, streams: new Set(), ...given };
  const sockets = new InspectionSockets(parts);
  const server = createAdaptorServer({ fetch: createApp(parts).fetch, hostname: loopback }) as Server;
  server.maxConnections = mostConnections;
  server.on('upgrade', (request, socket, head) => sockets.upgrade(request, socket, head));
  async function close(): Promise<void> {
    const isClosed = server.listening ? once(server, 'close') : undefined;
    server.close();
    fleet.close();
    overview.close();
    updates.close();
    sockets.close();
    for (const stream of parts.streams) stream.close();
    // A browser that does not take the farewell is not waited for.
    server.closeAllConnections();
    await Promise.all([isClosed, given.beside.close()]);
  }
  return { ...parts, server, close };
}

async function listening(server: Server, { tcpPort: port }: InspectorPlace): Promise<void> {
  // Rejects with what the server says of an address that it cannot use.
  const isListening = once(server, 'listening');
  server.listen({ port, host: loopback, exclusive: true });
  await isListening;
}

function running({ server, grants, own, close }: Built, port: number): RunningInspector {
  let isClosing = false;
  const failed = new Promise<Error>((resolve) => {
    // A connection that finds no descriptor (accept(2), EMFILE) is lost; the server is not.
    server.on('error', () => {});
    server.on('close', () => {
      if (!isClosing) resolve(new Error('the server of the inspector was closed'));
    });
  });
  return {
    tcpPort: port,
    failed,
    offer(grant: PageGrant) {
      const { code, socketToken } = grants.offer(grant);
      return {
        url: `http://${own()}/#code=${code}`,
        expiresMs: codeLifeMs,
        inspectionUrl: `ws://${own()}${socketPath}?token=${socketToken}`,
      };
    },
    async close() {
      isClosing = true;
      await close();
    },
  };
}
