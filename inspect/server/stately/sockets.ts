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
import { intact } from '../../../actors/runtime/actorAccess.ts';
import { actorKinds } from '../../../machines/ids.ts';
import type { Grants } from '../access/grants.ts';
import { assertOwnHost } from '../access/guard.ts';
import type { ActorRow } from '../contract.ts';
import { type Fleet, keyOf } from '../fleet/fleet.ts';
import { guardedLater } from '../guarded.ts';
import type { Updates } from '../updates/updates.ts';
import { Follower } from './follower.ts';
import { actorMessage } from './protocol.ts';
import { Telling } from './telling.ts';

export const socketPath = '/inspect';
const mostSockets = 16;
const largestMessage = 262_144;
/** Actors that a new client is told of at once: the newest of those that are not over. */
const mostActors = 500;
/** So many of them are put into words in one turn; each brings the definition of its machine along. */
const sliceActors = 32;
/** Why a socket was closed (RFC 6455, 7.4.1). */
const goingAway = 1_001;
const failing = 1_011;

/** What somebody else's inspector may say: about actors of its own, and none of ours. */
const foreign = z.looseObject({
  type: z.enum(['@xstate.actor', '@xstate.event', '@xstate.snapshot']),
  sessionId: z
    .string()
    .max(256)
    .refine((id) => !actorKinds.some((kind) => id.startsWith(`${kind}/`)), 'is one of ours'),
});

interface Parts {
  readonly daemon: Pick<InspectedDaemon, 'host' | 'clock' | 'log'>;
  readonly fleet: Fleet;
  readonly updates: Pick<Updates, 'flush'>;
  readonly grants: Grants;
  readonly own: () => string;
}

export class InspectionSockets {
  readonly #parts: Parts;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: largestMessage, perMessageDeflate: false });
  readonly #followers = new Set<Follower>();
  /** Every connection that asked for an upgrade, taken or not: the HTTP server knows them no more. */
  readonly #connections = new Set<Duplex>();
  readonly #telling: Telling;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#telling = new Telling({ ...parts, followers: () => this.#followers });
  }

  /** Takes the connection, or answers why not and closes it. Never throws: what comes in here is anybody's. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#connections.add(socket);
    socket.once('close', () => this.#connections.delete(socket));
    // Before the handshake nobody listens for what breaks here.
    socket.on('error', () => {});
    try {
      const status = this.#refusalOf(request);
      if (status === undefined) this.#server.handleUpgrade(request, socket, head, (client) => this.#welcome(client));
      else refuse(socket, status);
    } catch {
      // What cannot be read as a request.
      refuse(socket, '400 Bad Request');
    }
  }

  close(): void {
    this.#telling.close();
    for (const client of this.#server.clients) client.close(goingAway, 'the daemon is leaving');
    this.#server.close();
    // Whoever does not answer the farewell, or never hangs up, is not waited for.
    for (const socket of this.#connections) socket.destroy();
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
    const follower = new Follower(client);
    client.on('close', () => this.#followers.delete(follower));
    client.on('message', (data, isBinary) => {
      if (!isBinary) this.#passOn(follower, data);
    });
    const { log } = this.#parts.daemon;
    void guardedLater(log, () => this.#introduce(follower)).then((isDone) => {
      if (!isDone) client.close(failing, 'the daemon could not look');
    });
  }

  /** Of who is there first, then of what is committed; before the fleet is read in nobody can say who is there. */
  async #introduce(follower: Follower): Promise<void> {
    const { fleet, updates } = this.#parts;
    await fleet.ready;
    if (!follower.isOpen) return;
    // Those included that were created a moment ago.
    updates.flush();
    const open = [...fleet.rows].filter(({ status }) => status === 'active' || status === 'settled');
    const rows = open.slice(-mostActors);
    for (const row of rows) follower.awaits(keyOf(row));
    this.#followers.add(follower);
    for (let from = 0; from < rows.length && follower.isOpen; from += sliceActors) {
      await follower.handOver(this.#announced(follower, rows.slice(from, from + sliceActors)));
    }
  }

  #announced(follower: Follower, rows: readonly ActorRow[]): string[] {
    const { host, clock } = this.#parts.daemon;
    const { wallMs } = clock.now();
    return rows.flatMap((row) => {
      const { kind, id, position } = row;
      const snapshot = intact(host, kind, id);
      const isThere = snapshot !== undefined && snapshot !== 'corrupt';
      follower.announced(keyOf(row), isThere ? (host.versionOf(kind, id) ?? 0) : 0);
      return isThere ? [JSON.stringify(actorMessage({ kind, id }, { position, wallMs, snapshot }))] : [];
    });
  }

  #passOn(from: Follower, data: RawData): void {
    const text = String(data);
    if (!from.mayHear(Buffer.byteLength(text), this.#parts.daemon.clock.monoMs()) || !isForeign(text)) return;
    for (const follower of this.#followers) if (follower !== from) follower.send(text);
  }
}

/** An answer without a body; whoever does not hang up then is hung up on. */
function refuse(socket: Duplex, status: string): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function isForeign(text: string): boolean {
  try {
    return foreign.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}
