/** Replays that somebody is looking at: scrubbing through the life of an actor asks for the same one a hundred times. */
import type { ActorKind } from '../../../machines/ids.ts';
import { keyOf } from '../fleet/fleet.ts';
import { Course, type Replay, type ReplayParts } from './replay.ts';

interface Kept {
  readonly key: number;
  readonly newest: number;
  readonly course: Course;
  readonly replay: Promise<Replay>;
}

/** The actors of a timeline, and somebody's who looks at one of them meanwhile. */
const mostKept = 256;
/** Of all of them together. */
const mostMoments = 100_000;

export class Histories {
  readonly #parts: ReplayParts;
  /** Who was asked for last comes last. */
  readonly #kept = new Map<string, Kept>();

  constructor(parts: ReplayParts) {
    this.#parts = parts;
  }

  /** Undefined where there is no such actor. */
  async of(kind: ActorKind, id: string): Promise<Replay | undefined> {
    const { actors, journal } = this.#parts.store;
    const key = actors.keyOf({ kind, id });
    if (key === undefined) return undefined;
    const name = keyOf({ kind, id });
    const newest = journal.newestOf(key, 1);
    const known = this.#kept.get(name);
    this.#kept.delete(name);
    const kept =
      known?.key !== key
        ? this.#begun({ kind, id, key }, newest)
        : known.newest === newest
          ? known
          : { ...known, newest, replay: known.replay.then(() => known.course.goOn()) };
    this.#kept.set(name, kept);
    try {
      return await kept.replay;
    } catch (error) {
      // The next one who asks begins anew.
      if (this.#kept.get(name)?.course === kept.course) this.#kept.delete(name);
      throw error;
    } finally {
      this.#forget();
    }
  }

  /** Who was not asked for the longest goes; whoever was asked last stays, however long its life is. */
  #forget(): void {
    let moments = 0;
    for (const { course } of this.#kept.values()) moments += course.length;
    for (const [name, { course }] of this.#kept) {
      const isTooMuch = this.#kept.size > mostKept || moments > mostMoments;
      if (!isTooMuch || this.#kept.size === 1) return;
      this.#kept.delete(name);
      moments -= course.length;
    }
  }

  #begun(actor: { readonly kind: ActorKind; readonly id: string; readonly key: number }, newest: number): Kept {
    const course = new Course(this.#parts, actor);
    return { key: actor.key, newest, course, replay: course.goOn() };
  }
}
