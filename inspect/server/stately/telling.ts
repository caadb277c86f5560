/**
 * Commits in the words of the inspection protocol. A commit is noted and nothing else; a little later what has piled up is
 * put into words once for everybody who follows, a bounded number in a turn.
 */
import type { InspectedDaemon } from '../../../actors/daemon/inspector/port.ts';
import type { CommitRecord } from '../../../actors/host/outcome.ts';
import { keyOf } from '../fleet/fleet.ts';
import { guarded } from '../guarded.ts';
import type { Follower } from './follower.ts';
import { messagesOf } from './protocol.ts';

const pauseMs = 10;
/** The pause is at least so many times as long as the last telling took, up to the longest. */
const restFactor = 9;
const longestPauseMs = 200;
const mostInTurn = 64;
/** Commits that come faster than they can be told for longer than this are not told: followers come back for the present. */
const mostUntold = 8_192;

interface Parts {
  readonly daemon: Pick<InspectedDaemon, 'host' | 'clock' | 'log'>;
  readonly followers: () => ReadonlySet<Follower>;
}

export class Telling {
  readonly #parts: Parts;
  #untold: CommitRecord[] = [];
  #lastCostMs = 0;
  #stopTimer: (() => void) | undefined;
  readonly #stopListening: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#stopListening = parts.daemon.host.onCommit((records) => this.#note(records));
  }

  close(): void {
    this.#stopListening();
    this.#stopTimer?.();
  }

  /** In the turn of the commit. */
  #note(records: readonly CommitRecord[]): void {
    const followers = this.#parts.followers();
    if (followers.size === 0) return;
    if (this.#untold.length + records.length > mostUntold) {
      this.#untold = [];
      for (const follower of followers) follower.letGo('more is committed than can be told');
      return;
    }
    this.#untold.push(...records);
    this.#stopTimer ??= this.#tellLater();
  }

  #tellLater(): () => void {
    const { clock, log } = this.#parts.daemon;
    const rest = Math.min(longestPauseMs, Math.max(pauseMs, this.#lastCostMs * restFactor));
    return clock.wakeAt(clock.monoMs() + rest, () => {
      this.#stopTimer = undefined;
      const begunMs = clock.monoMs();
      guarded(log, () => this.#tell());
      this.#lastCostMs = clock.monoMs() - begunMs;
      if (this.#untold.length > 0) this.#stopTimer ??= this.#tellLater();
    });
  }

  #tell(): void {
    const records = this.#untold.splice(0, mostInTurn);
    const followers = [...this.#parts.followers()];
    if (followers.length === 0) return;
    for (const record of records) {
      const key = keyOf(record.actor);
      const told = followers.filter((follower) => follower.isNews(key, record.version));
      if (told.length === 0) continue;
      for (const message of messagesOf(record)) {
        const text = JSON.stringify(message);
        for (const follower of told) follower.send(text);
      }
    }
  }
}
