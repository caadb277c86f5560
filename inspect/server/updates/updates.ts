/**
 * What was committed, told to every browser that looks. A commit is noted and nothing else; a little later, what has piled
 * up goes out as one text for all of them. The pause grows with what telling costs, so that it never takes more than a small part of
 * the time in which events are committed.
 */
import type { ServerResponse } from 'node:http';
import type { InspectedDaemon } from '../../../actors/daemon/inspector/port.ts';
import type { CommitRecord } from '../../../actors/host/outcome.ts';
import { type ActorRow, heartbeatMs, type Message, type UpdateMessage } from '../contract.ts';
import { type Fleet, keyOf } from '../fleet/fleet.ts';
import { leafPaths } from '../fleet/paths.ts';
import { guarded, guardedLater } from '../guarded.ts';
import { StreamClient } from './client.ts';
import { messageOf, Positions } from './messages.ts';
import { missedSince } from './missed.ts';
import type { Overview, OverviewFields } from './overview.ts';

/** Between a commit and the telling of it: short against what an eye notices, long enough for a relayed change to be whole. */
const pauseMs = 10;
/** The pause is at least so many times as long as the last telling took. */
const restFactor = 60;
const longestPauseMs = 80;
/** While nobody looks, lines are only kept current. */
const unwatchedPauseMs = 500;
const mostRows = 300;
/** Nobody reads more of them as they come; each is put together in the turn of its commit. */
const mostMessages = 100;
const rememberedPositions = 4_096;

export const mostClients = 64;

export const sseText = (message: UpdateMessage): string =>
  `id: ${message.position}\nevent: ${message.type}\ndata: ${JSON.stringify(message)}\n\n`;

export interface UpdatesParts {
  readonly daemon: Pick<InspectedDaemon, 'host' | 'store' | 'clock' | 'log'>;
  readonly fleet: Fleet;
  readonly overview: Overview;
}

export class Updates {
  readonly #parts: UpdatesParts;
  readonly #clients = new Set<StreamClient>();
  readonly #positions = new Positions(rememberedPositions);
  /** Committed, and not in the fleet yet: the newest record of each actor. */
  readonly #dirty = new Map<string, CommitRecord>();
  readonly #unsent = new Map<string, ActorRow>();
  #messages: Message[] = [];
  #skipped = 0;
  #position: number;
  #lastCostMs = 0;
  #stopFlush: (() => void) | undefined;
  #stopBeat: (() => void) | undefined;
  readonly #stopListening: () => void;

  constructor(parts: UpdatesParts) {
    this.#parts = parts;
    const { daemon, fleet } = parts;
    this.#position = daemon.store.journal.lastPosition();
    this.#stopListening = daemon.host.onCommit((records) => this.#note(records));
    void guardedLater(daemon.log, async () => {
      await fleet.ready;
      this.#tell({ type: 'fleet.ready', position: this.#position });
    });
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** Tells from behind `after` on; undefined begins with the present. The caller has written the head of the answer. */
  attach(
    response: ServerResponse,
    { after, control }: { readonly after: number | undefined; readonly control: boolean },
  ): void {
    this.flush();
    const position = this.#position;
    const client = new StreamClient(
      {
        response,
        onGone: (gone) => void this.#clients.delete(gone),
        onCaughtUp: (slow, from) => slow.send(this.#gap(from, 'slow'), this.#position),
      },
      position,
    );
    client.send(sseText({ type: 'hello', position, control, heartbeatMs }), position);
    if (after !== undefined && after !== position) client.send(this.#missed(after), position);
    this.#clients.add(client);
    this.#stopBeat ??= this.#beatLater();
    this.#parts.overview.changed();
  }

  /** Brings the fleet up to the last commit, and tells what is new. */
  flush(): void {
    this.#stopFlush?.();
    this.#stopFlush = undefined;
    const { daemon, fleet } = this.#parts;
    for (const [key, record] of this.#dirty) {
      // An actor that cannot be shown keeps nobody from seeing the others.
      this.#dirty.delete(key);
      guarded(daemon.log, () => {
        for (const row of fleet.take(record)) this.#unsent.set(keyOf(row), row);
      });
    }
    if (this.#clients.size === 0) this.#forget();
    else if (this.#unsent.size > 0 || this.#messages.length > 0) this.#tellCommitted();
  }

  close(): void {
    this.#stopListening();
    this.#stopFlush?.();
    this.#stopBeat?.();
    const text = sseText({ type: 'leaving', position: this.#position });
    for (const client of this.#clients) client.end(text);
    this.#clients.clear();
  }

  /** In the turn of the commit: nothing here may cost more than remembering. */
  #note(records: readonly CommitRecord[]): void {
    const isWatched = this.#clients.size > 0;
    for (const record of records) {
      this.#dirty.set(keyOf(record.actor), record);
      if (!isWatched) continue;
      if (this.#messages.length < mostMessages) this.#messages.push(this.#messageOf(record));
      else this.#skipped += 1;
    }
    this.#position = records.at(-1)?.position ?? this.#position;
    this.#stopFlush ??= this.#flushLater(isWatched);
  }

  #messageOf({ position, actor, envelope, outcome, after }: CommitRecord): Message {
    const key = keyOf(actor);
    this.#positions.note(envelope.eventId, key, position);
    const state = leafPaths(after.value);
    return messageOf({ position, envelope, outcome, state }, (id, source) => this.#positions.of(id, source));
  }

  #flushLater(isWatched: boolean): () => void {
    const { clock, log } = this.#parts.daemon;
    const rest = Math.min(longestPauseMs, Math.max(pauseMs, this.#lastCostMs * restFactor));
    return clock.wakeAt(clock.monoMs() + (isWatched ? rest : unwatchedPauseMs), () => {
      const begunMs = clock.monoMs();
      this.#stopFlush = undefined;
      guarded(log, () => this.flush());
      this.#lastCostMs = clock.monoMs() - begunMs;
      // What did not fit goes with the next.
      if (this.#unsent.size > 0) this.#stopFlush ??= this.#flushLater(true);
    });
  }

  #tellCommitted(): void {
    const actors: ActorRow[] = [];
    for (const [key, row] of this.#unsent) {
      if (actors.length === mostRows) break;
      actors.push(row);
      this.#unsent.delete(key);
    }
    const [messages, skipped] = [this.#messages, this.#skipped];
    this.#messages = [];
    this.#skipped = 0;
    this.#tell({ type: 'committed', position: this.#position, actors, messages, skipped });
    this.#parts.overview.changed();
  }

  #tell(message: UpdateMessage): void {
    if (this.#clients.size === 0) return;
    const text = sseText(message);
    for (const client of this.#clients) client.send(text, message.position);
  }

  tellOverview(overview: OverviewFields): void {
    const position = this.#position;
    this.#tell({ type: 'overview', position, overview: { ...overview, position } });
  }

  #forget(): void {
    this.#unsent.clear();
    this.#messages = [];
    this.#skipped = 0;
  }

  #missed(after: number): string {
    const { daemon, fleet } = this.#parts;
    const missed = missedSince({ daemon, fleet, after, position: this.#position });
    return missed === undefined ? this.#gap(after, 'not_kept') : sseText(missed);
  }

  #gap(from: number, reason: 'slow' | 'not_kept'): string {
    return sseText({ type: 'gap', from, position: this.#position, reason });
  }

  #beatLater(): () => void {
    const { clock, log } = this.#parts.daemon;
    return clock.wakeAt(clock.monoMs() + heartbeatMs, () => {
      guarded(log, () => {
        for (const client of this.#clients) client.beat();
        this.#parts.overview.changed();
      });
      this.#stopBeat = this.#clients.size > 0 ? this.#beatLater() : undefined;
    });
  }
}
