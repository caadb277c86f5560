/**
 * Where clients of the Stately inspection protocol connect: programs with the token, and pages of the origins that were
 * allowed for it. They are told of every actor that is not over, then of every commit. What an inspector of somebody's own
 * actors says here is passed on to the others, so that one page shows both; nothing that comes in reaches the store.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { InspectedDaemon } from '../../../actors/daemon/inspector/port.ts';
import type { CommitRecord } from '../../../actors/host/outcome.ts';
import { intact } from '../../../actors/runtime/actorAccess.ts';
import { actorKinds } from '../../../machines/ids.ts';
import type { Grants } from '../access/grants.ts';
import { assertOwnHost } from '../access/guard.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { actorMessage, type InspectionMessage, messagesOf } from './protocol.ts';

export const socketPath = '/inspect';
/** A client that takes no more than this is behind for good: it is let go, and may come back for the present. */
const mostBufferedBytes = 4_194_304;
const mostSockets = 16;
const largestMessage = 262_144;
/** Actors that a new client is told of at once: the newest of those that are not over. */
const mostActors = 500;
/** Why a socket was closed, in the range that programs may use (RFC 6455, 7.4.2). */
const tooSlow = 4_008;
const goingAway = 1_001;

/** What somebody else's inspector may say: about actors of its own, and none of ours. */
const foreign = z.looseObject({
  type: z.enum(['@xstate.actor', '@xstate.event', '@xstate.snapshot']),
  sessionId: z
    .string()
    .max(256)
    .refine((id) => !actorKinds.some((kind) => id.startsWith(`${kind}/`)), 'is one of ours'),
});

interface Parts {
  readonly daemon: InspectedDaemon;
  readonly fleet: Fleet;
  readonly grants: Grants;
  readonly own: () => string;
}

export class InspectionSockets {
  readonly #parts: Parts;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: largestMessage, perMessageDeflate: false });
  readonly #stopListening: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#stopListening = parts.daemon.host.onCommit((records) => this.#committed(records));
  }

  /** Takes the connection, or answers why not and closes it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Before the handshake nobody listens for what breaks here.
    socket.on('error', () => {});
    const status = this.#refusalOf(request);
    if (status === undefined) this.#server.handleUpgrade(request, socket, head, (client) => this.#welcome(client));
    else socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  }

  close(): void {
    this.#stopListening();
    for (const client of this.#server.clients) client.close(goingAway, 'the daemon is leaving');
    // Whoever does not answer the farewell is not waited for.
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
  }

  /** A browser names the origin of the page, programs have none; the token tells who was let in. */
  #refusalOf({ headers, url = '' }: IncomingMessage): string | undefined {
    const { grants, own } = this.#parts;
    try {
      assertOwnHost(headers, own());
    } catch {
      return '403 Forbidden';
    }
    const { pathname, searchParams } = new URL(url, `http://${own()}`);
    if (pathname !== socketPath) return '404 Not Found';
    const grant = grants.socket(searchParams.get('token') ?? '');
    if (grant === undefined) return '401 Unauthorized';
    const { origin } = headers;
    if (origin !== undefined && origin !== `http://${own()}` && !grant.origins.includes(origin)) return '403 Forbidden';
    return this.#server.clients.size >= mostSockets ? '503 Service Unavailable' : undefined;
  }

  #welcome(client: WebSocket): void {
    client.on('error', () => client.terminate());
    client.on('message', (data, isBinary) => {
      if (!isBinary) this.#passOn(client, data);
    });
    const { daemon, fleet } = this.#parts;
    const open = [...fleet.rows].filter(({ status }) => status === 'active' || status === 'settled').slice(-mostActors);
    const { wallMs } = daemon.clock.now();
    for (const { kind, id, position } of open) {
      const snapshot = intact(daemon.host, kind, id);
      if (snapshot !== undefined && snapshot !== 'corrupt')
        client.send(JSON.stringify(actorMessage({ kind, id }, { position, wallMs, snapshot })));
    }
  }

  #committed(records: readonly CommitRecord[]): void {
    if (this.#server.clients.size === 0) return;
    for (const record of records) for (const message of messagesOf(record)) this.#tell(message);
  }

  #tell(message: InspectionMessage): void {
    const text = JSON.stringify(message);
    for (const client of this.#server.clients) this.#send(client, text);
  }

  #passOn(from: WebSocket, data: RawData): void {
    const text = String(data);
    if (!isForeign(text)) return;
    for (const client of this.#server.clients) if (client !== from) this.#send(client, text);
  }

  #send(client: WebSocket, text: string): void {
    if (client.readyState !== client.OPEN) return;
    if (client.bufferedAmount > mostBufferedBytes) client.close(tooSlow, 'too slow');
    else client.send(text);
  }
}

function isForeign(text: string): boolean {
  try {
    return foreign.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}
