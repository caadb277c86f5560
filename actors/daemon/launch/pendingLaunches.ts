/**
 * Launches of this daemon that are not over yet. A recipe is here and nowhere else (PRIV-01), so a launch that a former
 * daemon had begun cannot be carried on: it is abandoned behind its closed gate.
 */
import type { Launch } from '../../../pty/launch/launch.ts';
import type { ReservedSlots } from '../../../pty/launch/slots.ts';
import type { Recipe } from './recipe.ts';

export type LaunchOutcome =
  /** `doubt`: why nobody confirmed that the gate was opened; the work counts as started all the same (GRD-07). */
  | { readonly kind: 'released'; readonly doubt?: string }
  | { readonly kind: 'execFailed'; readonly errno: number }
  /** Nothing ran. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string; readonly next: readonly string[] };

export interface LaunchStep {
  readonly step: string;
  readonly ms: number;
}

/** The steps of a launch in their order; a test may stop the world, or one launch, on either side of each. */
export type LaunchStepName = 'slots' | 'reserve commit' | 'handshake' | 'release commit' | 'gate';
export type LaunchPoint = `${'before' | 'after'} ${LaunchStepName}`;
/** Awaited at every point, and told whose launch it is; a daemon that ships passes none. */
export type LaunchFailpoint = (point: LaunchPoint, scopeId: string) => void | Promise<void>;

export class PendingLaunch {
  readonly recipe: Recipe;
  readonly steps: LaunchStep[] = [];
  readonly outcome: Promise<LaunchOutcome>;
  slots: ReservedSlots | undefined;
  /** Resolves when the directory of the slots keeps its name through a power loss. */
  named: Promise<void> = Promise.resolve();
  launch: Launch | undefined;
  #starting: Promise<Launch> | undefined;
  #isAbandoned = false;
  readonly #failpoint: (point: LaunchPoint) => void | Promise<void>;
  #settle!: (outcome: LaunchOutcome) => void;

  constructor(recipe: Recipe, failpoint: (point: LaunchPoint) => void | Promise<void>) {
    this.recipe = recipe;
    this.#failpoint = failpoint;
    this.outcome = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Spawns the guardian, or answers undefined because the launch was abandoned before. */
  async start(spawn: () => Promise<Launch>): Promise<Launch | undefined> {
    if (this.#isAbandoned) return undefined;
    this.#starting = spawn();
    this.launch = await this.#starting;
    return this.launch;
  }

  /** Nothing is spawned from now on, and what has been is gone when this resolves, also if it was still on its way. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    const launch = await this.#starting?.catch(() => undefined);
    await launch?.abandon();
  }

  /** The first outcome stands. */
  settle(outcome: LaunchOutcome): void {
    this.#settle(outcome);
  }

  async timed<T>(step: LaunchStepName, work: () => Promise<T>): Promise<T> {
    await this.#failpoint(`before ${step}`);
    const started = process.hrtime.bigint();
    try {
      return await work();
    } finally {
      this.steps.push({ step, ms: Number(process.hrtime.bigint() - started) / 1e6 });
      await this.#failpoint(`after ${step}`);
    }
  }
}

export class PendingLaunches {
  /** Scopes of runs that were admitted and are not committed yet: the next admission has to count them. */
  readonly admitted = new Set<string>();
  readonly #byScope = new Map<string, PendingLaunch>();
  readonly #reservations = new Set<Promise<unknown>>();
  readonly #failpoint: LaunchFailpoint;

  constructor(failpoint: LaunchFailpoint = () => {}) {
    this.#failpoint = failpoint;
  }

  add(scopeId: string, recipe: Recipe): PendingLaunch {
    const pending = new PendingLaunch(recipe, (point) => this.#failpoint(point, scopeId));
    this.#byScope.set(scopeId, pending);
    void pending.outcome.then(() => this.#byScope.delete(scopeId));
    return pending;
  }

  /** `reservation` is the part of a launch that is not committed yet. Resolves and rejects as it does. */
  async reserving<T>(reservation: Promise<T>): Promise<T> {
    this.#reservations.add(reservation);
    try {
      return await reservation;
    } finally {
      this.#reservations.delete(reservation);
    }
  }

  /** Resolves when every reservation that has begun is committed or refused: from then on the store knows them all. */
  async reserved(): Promise<void> {
    await Promise.allSettled(this.#reservations);
  }

  /** Resolves when every launch that has begun is released or refused. */
  async over(): Promise<void> {
    await this.reserved();
    await Promise.all([...this.#byScope.values()].map(({ outcome }) => outcome));
  }

  /** Whether nothing is being launched. */
  get isEmpty(): boolean {
    return this.#byScope.size === 0 && this.#reservations.size === 0;
  }

  get(scopeId: string): PendingLaunch | undefined {
    return this.#byScope.get(scopeId);
  }

  /** For a launch whose reservation was refused: it never began. */
  drop(scopeId: string): void {
    this.#byScope.delete(scopeId);
  }
}
