/** Replays that somebody is looking at: scrubbing through the life of an actor asks for the same one a hundred times. */
import type { ActorKind } from '../../../machines/ids.ts';
import { keyOf } from '../fleet/fleet.ts';
import { type Replay, type ReplayParts, replay } from './replay.ts';

interface Kept {
  readonly newest: number;
  readonly replay: Promise<Replay | undefined>;
}

const mostKept = 8;

export class Histories {
  readonly #parts: ReplayParts;
  readonly #kept = new Map<string, Kept>();

  constructor(parts: ReplayParts) {
    this.#parts = parts;
  }

  /** Undefined where there is no such actor. */
  of(kind: ActorKind, id: string): Promise<Replay | undefined> {
    const { actors, journal } = this.#parts.store;
    const key = actors.keyOf({ kind, id });
    if (key === undefined) return Promise.resolve(undefined);
    const name = keyOf({ kind, id });
    const newest = journal.newestOf(key, 1);
    const known = this.#kept.get(name);
    this.#kept.delete(name);
    const kept = known?.newest === newest ? known : this.#begin(newest, kind, id);
    this.#kept.set(name, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    return kept.replay;
  }

  /** What failed is not remembered: whoever asks again finds out whether it fails still. */
  #begin(newest: number, kind: ActorKind, id: string): Kept {
    const kept = { newest, replay: replay(this.#parts, kind, id) };
    const name = keyOf({ kind, id });
    kept.replay.catch(() => {
      if (this.#kept.get(name) === kept) this.#kept.delete(name);
    });
    return kept;
  }
}
