/**
 * All screens of a host, in a thread of their own, because rendering is the one thing here that costs time. Sessions that
 * somebody asks about go first; among them, and among the others, each gets a piece in turn.
 */
import { setImmediate } from 'node:timers/promises';
import { find, Lookout } from './matcher.ts';
import type { Answered, FromWorker, ScreenFailure, ScreenPlace, ToWorker } from './protocol.ts';
import { Screen } from './screen.ts';

type Ask = Extract<ToWorker, { readonly type: 'snapshot' | 'wait' }>;

interface Session {
  readonly name: string;
  readonly place: ScreenPlace;
  screen: Screen | undefined;
  target: number;
  answered: Answered | null;
  /** There may be something to render. */
  isBehind: boolean;
  isIdle: boolean;
  isInTurn: boolean;
  isClosed: boolean;
  asks: Ask[];
  readonly lookouts: Map<number, Lookout>;
}

/** A line that hurries by while somebody waits for it must still be in the history when they look. */
const watchedPieceBytes = 8 * 1024;

export class ScreenThread {
  readonly #say: (message: FromWorker) => void;
  readonly #sessions = new Map<string, Session>();
  #isRunning = false;

  constructor(say: (message: FromWorker) => void) {
    this.#say = say;
  }

  /** Takes one order; the answers come by themselves. */
  take(order: ToWorker): void {
    if (order.type === 'open') this.#open(order);
    else if (order.type === 'close') this.#close(order.session);
    else if (order.type === 'advance') for (const [name, target] of order.targets) this.#advance(name, target);
    else if (order.type === 'rest') for (const name of order.sessions) this.#idle(name);
    else this.#ask(order);
    this.#run().catch((error: unknown) => {
      // A bug: the thread ends and is replaced.
      process.nextTick(() => {
        throw error;
      });
    });
  }

  #open({ session: name, place, target, answered }: Extract<ToWorker, { readonly type: 'open' }>): void {
    const state = {
      screen: undefined,
      target,
      isBehind: false,
      isIdle: false,
      isInTurn: false,
      isClosed: false,
      asks: [],
      lookouts: new Map(),
    };
    this.#sessions.set(name, { name, place, answered, ...state });
  }

  #close(name: string): void {
    const session = this.#sessions.get(name);
    if (session === undefined) return;
    session.isClosed = true;
    this.#sessions.delete(name);
    // A terminal that is thrown away in the middle of a write never says that it is done.
    if (!session.isInTurn) session.screen?.close();
  }

  #advance(name: string, target: number): void {
    const session = this.#sessions.get(name);
    if (session === undefined) return;
    session.target = Math.max(session.target, target);
    session.isBehind = true;
  }

  #idle(name: string): void {
    const session = this.#sessions.get(name);
    if (session !== undefined) session.isIdle = true;
  }

  #ask(order: Exclude<ToWorker, { readonly type: 'open' | 'close' | 'advance' | 'rest' }>): void {
    const session = this.#sessions.get(order.session);
    if (session === undefined) return;
    if (order.type === 'answered') {
      session.answered = order.answered;
      if (session.screen !== undefined) session.screen.answered = session.answered;
    } else if (order.type === 'cancel') this.#forget(session, order.id);
    else {
      session.asks.push(order);
      this.#advance(order.session, order.atLeast);
    }
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (;;) {
        const waiting = [...this.#sessions.values()].filter(({ isBehind, isIdle }) => isBehind || isIdle);
        if (waiting.length === 0) return;
        const urgent = waiting.filter(({ asks, isBehind }) => asks.length > 0 && isBehind);
        for (const session of urgent.length > 0 ? urgent : waiting) await this.#turn(session);
        // Orders that came meanwhile are heard before the next piece.
        await setImmediate();
      }
    } finally {
      this.#isRunning = false;
    }
  }

  async #turn(session: Session): Promise<void> {
    if (session.isClosed) return;
    session.isInTurn = true;
    await this.#render(session);
    session.isInTurn = false;
    if (session.isClosed) session.screen?.close();
  }

  async #render(session: Session): Promise<void> {
    try {
      const screen = await this.#screenOf(session);
      const isWatched = session.asks.some(({ type }) => type === 'wait');
      // Set again by whatever is heard during the step.
      session.isBehind = false;
      const target = this.#lookBefore(session, screen);
      const hasMore = await screen.step(target, isWatched ? watchedPieceBytes : undefined);
      if (hasMore || target < session.target) session.isBehind = true;
      await this.#answer(session, screen);
      if (session.isIdle && !session.isBehind) {
        session.isIdle = false;
        await screen.checkpoint();
        screen.rest();
      }
    } catch (error) {
      session.isBehind = false;
      session.isIdle = false;
      const detail = error instanceof Error ? error.message : String(error);
      for (const { id } of session.asks) this.#fail(session, id, { code: 'screen_unreadable', detail });
    }
  }

  /** Somebody who begins to wait sees the screen as it is then; rendering stops there once. Returns how far to render. */
  #lookBefore(session: Session, screen: Screen): number {
    const fresh = session.asks.filter((ask) => ask.type === 'wait' && !session.lookouts.has(ask.id));
    let target = session.target;
    for (const ask of fresh) {
      if (ask.type === 'wait' && screen.offset >= ask.atLeast) this.#look(session, screen, ask);
      else target = Math.min(target, ask.atLeast);
    }
    return target;
  }

  async #screenOf(session: Session): Promise<Screen> {
    const { name, place } = session;
    session.screen ??= await Screen.open(place, {
      reply: (bytes, offset) => this.#say({ type: 'reply', session: name, offset, bytes }),
    });
    session.screen.answered = session.answered;
    return session.screen;
  }

  async #answer(session: Session, screen: Screen): Promise<void> {
    for (const ask of session.asks) {
      if (ask.type === 'wait') this.#look(session, screen, ask);
      // At the offset itself a change of size may still follow, so the end of what is there is waited for.
      else if (screen.offset > ask.atLeast || !session.isBehind) await this.#show(session, screen, ask);
    }
  }

  async #show(session: Session, screen: Screen, ask: Extract<Ask, { readonly type: 'snapshot' }>): Promise<void> {
    if (screen.offset < ask.atLeast) {
      const detail = `the transcript ends at byte ${screen.offset}, before byte ${ask.atLeast}`;
      return this.#fail(session, ask.id, { code: 'screen_unreadable', detail });
    }
    const snapshot = await screen.snapshot(ask.historyRows ?? undefined);
    this.#forget(session, ask.id);
    this.#say({ type: 'snapshot', id: ask.id, snapshot });
  }

  #look(session: Session, screen: Screen, { id, pattern, atLeast }: Extract<Ask, { readonly type: 'wait' }>): void {
    if (screen.offset < atLeast) return;
    const lookout = session.lookouts.get(id) ?? new Lookout(screen.terminal);
    session.lookouts.set(id, lookout);
    const found = find(pattern, lookout.text());
    if (found === undefined) return;
    if ('failure' in found) this.#fail(session, id, { code: found.failure, detail: found.detail });
    else {
      this.#forget(session, id);
      this.#say({ type: 'matched', id, match: { offset: screen.offset, text: found.text } });
    }
  }

  #fail(session: Session, id: number, why: { readonly code: ScreenFailure; readonly detail: string }): void {
    this.#forget(session, id);
    this.#say({ type: 'failed', id, ...why });
  }

  #forget(session: Session, id: number): void {
    session.asks = session.asks.filter((ask) => ask.id !== id);
    session.lookouts.get(id)?.dispose();
    session.lookouts.delete(id);
  }
}
