/**
 * The one thing that the worker does so far: it runs the configured check of a queued Goal in the Goal's worktree, and the
 * receipt of what came of it is recorded. Every step is committed before the worker hears of it, on the basis that the
 * Goal has then; a Goal that has moved on takes nothing of it (OCC-03), and what was recorded settles what is left over
 * after a crash (CLAIM-04).
 */
import { join } from 'node:path';
import type { Payload } from '../../../machines/events/catalogue.ts';
import type { RunId, ScopeId } from '../../../machines/ids.ts';
import type { RunSnapshot } from '../../../machines/run.ts';
import { Backoff } from '../../observe/streams/backoff.ts';
import { committed, required } from '../../runtime/actorAccess.ts';
import { draft, wasAccepted } from '../../runtime/submission.ts';
import type { FromWorker } from '../../worker/messages.ts';
import { verdictOf } from '../../worker/verdict.ts';
import type { WorkerView } from '../api/views.ts';
import { retryPauses } from '../config.ts';
import { assertAdmitted, hasFreeSlot } from '../launch/admission.ts';
import { captureViews } from '../views/captureView.ts';
import { type CheckOutcome, checkOutcome } from './checkOutcome.ts';
import { basisOf, checkPlan, newCheckId, receiptIdOf } from './checkPlan.ts';
import { settlementOf } from './checkSettlement.ts';
import { type DueCheck, nextDueCheck, openChecks } from './dueChecks.ts';
import type { CheckParts } from './parts.ts';

type Verdict = Extract<FromWorker, { type: 'verdict' }>;
type Run = RunSnapshot['context'];

/** A check that the worker has been told of. */
interface Current {
  readonly checkId: RunId;
  readonly due: DueCheck | undefined;
  /** There once it is committed. */
  readonly scopeId: ScopeId | undefined;
  /** The worker knows how it ended, and has its verdict to give. */
  isEndTold?: boolean;
}

const by = 'worker';
const mostShown = 8;

export class Checks {
  readonly #parts: CheckParts;
  readonly #backoff: Backoff;
  /** Goals whose check could not be begun: each is left alone for a while. */
  readonly #held = new Map<string, { readonly reason: string; readonly untilMonoMs: number }>();
  #current: Current | undefined;
  /** Something has been committed since nothing was found to be due. */
  #mayBeDue = true;

  constructor(parts: CheckParts) {
    this.#parts = parts;
    this.#backoff = new Backoff(retryPauses(parts.config));
  }

  /** The worker has registered: what it has launched already and what still runs is its check. */
  resume(): void {
    this.#current = undefined;
    this.#mayBeDue = true;
    for (const { runId: checkId, rootScopeId: scopeId } of openChecks(this.#parts)) {
      const parent = committed(this.#parts.host, 'executionScope', scopeId)?.context.parentScopeId;
      const isOwn = parent === this.#parts.workerIdentity().scopeId;
      if (isOwn && checkOutcome(this.#parts, scopeId).kind === 'running') {
        this.#current = { checkId, due: undefined, scopeId };
      }
    }
  }

  /** Whatever is committed may make a check due. */
  changed(): void {
    this.#mayBeDue = true;
  }

  /**
   * The worker has nothing in hand and asks for more. What is known already of a check comes first: its worker may have
   * died between the end and the verdict (CLAIM-04).
   */
  async offer(): Promise<void> {
    const { say, clock, isAdmitting, admission } = this.#parts;
    if (this.#current !== undefined) return this.#remind(this.#current);
    if (!this.#mayBeDue) return;
    const left = this.#unsettled();
    if (left !== undefined) {
      this.#current = { checkId: left.runId, due: undefined, scopeId: left.rootScopeId ?? undefined };
      return this.#settle(left);
    }
    if (!isAdmitting()) return;
    // Whatever frees one is committed, and leads back here: nobody is made to wait for longer (GOAL-04).
    this.#mayBeDue = hasFreeSlot(admission);
    if (!this.#mayBeDue) return;
    const now = clock.monoMs();
    const due = nextDueCheck(this.#parts, (goalId) => (this.#held.get(goalId)?.untilMonoMs ?? 0) > now);
    this.#mayBeDue = due !== undefined || [...this.#held.values()].some(({ untilMonoMs }) => untilMonoMs > now);
    if (due === undefined) return;
    this.#current = { checkId: newCheckId(this.#parts), due, scopeId: undefined };
    say({ type: 'check', checkId: this.#current.checkId });
  }

  /** The worker asked before it had heard of the one that it was given: it is not given two. */
  async #remind({ checkId, scopeId }: Current): Promise<void> {
    if (scopeId === undefined) this.#parts.say({ type: 'check', checkId });
    else await this.followed(scopeId);
  }

  async begin(checkId: string): Promise<void> {
    const { checkId: offered, due, scopeId } = this.#current ?? {};
    if (offered !== checkId || offered === undefined) return this.#over(checkId, 'unknown_check');
    if (due === undefined || scopeId !== undefined) return; // Said twice; it is under way.
    const { goalId } = due.goal.context;
    try {
      await this.#launch(due, offered);
    } catch (error) {
      const code = (error as { code?: unknown })?.code;
      this.#parts.log.warn({ goalId, code }, 'a check could not be begun');
      const reason = typeof code === 'string' ? code.slice(0, 64) : 'internal_error';
      this.#holdBack(goalId, reason);
      this.#over(checkId, reason);
    }
  }

  #holdBack(goalId: string, reason: string): void {
    const now = this.#parts.clock.monoMs();
    // Goals that nobody asks about again would stay in it for as long as the daemon lives.
    for (const [id, { untilMonoMs }] of this.#held) if (untilMonoMs <= now) this.#held.delete(id);
    this.#held.set(goalId, { reason, untilMonoMs: this.#backoff.later(goalId, now) });
  }

  /** Goals whose check is tried again later, and why it was not begun. */
  heldBack(): WorkerView['heldBack'] {
    const now = this.#parts.clock.monoMs();
    return [...this.#held]
      .filter(([, { untilMonoMs }]) => untilMonoMs > now)
      .slice(0, mostShown)
      .map(([goalId, { reason, untilMonoMs }]) => ({ goalId, reason, retryInMs: Math.ceil(untilMonoMs - now) }));
  }

  async #launch(due: DueCheck, checkId: RunId): Promise<void> {
    const { host, launches, pendingLaunches, config, deadlines } = this.#parts;
    const { goalId } = due.goal.context;
    assertAdmitted(this.#parts.admission, goalId);
    const { scopeId, recipe, drafts } = checkPlan(this.#parts, due, checkId);
    const deadline = deadlines.record(scopeId, config.checkTimeoutMs);
    pendingLaunches.admitted.add(scopeId);
    // Before the commit: what it is followed by is told by the scope.
    this.#current = { checkId, due, scopeId };
    try {
      await launches.request({ scopeId, recipe, drafts, next: [`custody goals show ${goalId}`] });
      deadlines.arm(deadline);
    } catch (error) {
      deadlines.disarm(scopeId);
      throw error;
    } finally {
      pendingLaunches.admitted.delete(scopeId);
    }
    if (required(host, 'goal', goalId).hasTag('terminal')) await this.#endOf(scopeId, goalId);
  }

  /** The Goal was cancelled in the turn of the reservation, whose scope the cancellation could not reach (STOP-04). */
  async #endOf(scopeId: ScopeId, goalId: string): Promise<void> {
    const payload = { cause: 'cancelled' as const, requestId: `late:${goalId}` };
    const to = ['executionScope', scopeId] as const;
    await this.#parts.host.submit([draft('drain.requested', { to, payload, by: 'admission' })]);
  }

  /** A scope has come to its end, or out of sight: if it is of the check in hand, the check is settled. */
  async followed(scopeId: string): Promise<void> {
    if (this.#current?.scopeId !== scopeId) return;
    const run = committed(this.#parts.host, 'run', this.#current.checkId);
    if (run !== undefined) await this.#settle(run.context);
  }

  async #settle(run: Run): Promise<void> {
    if (run.rootScopeId === null) return;
    const outcome = checkOutcome(this.#parts, run.rootScopeId);
    if (outcome.kind === 'running') return;
    this.#learn(run, outcome);
    if (outcome.kind === 'ended') return this.#askForVerdict(run.runId, run.rootScopeId, outcome);
    const drafts = settlementOf(this.#parts, run, outcome);
    if (drafts.length > 0) await this.#parts.host.submit(drafts);
    this.#over(run.runId, outcome.kind);
  }

  /** That a launch was committed says nothing yet: what never runs is left alone for longer every time. */
  #learn({ goalRef }: Run, { kind }: CheckOutcome): void {
    if (goalRef === null) return;
    const { goalId } = goalRef;
    if (kind === 'neverRan') {
      this.#holdBack(goalId, 'never_ran');
      return;
    }
    this.#backoff.reset(goalId);
    this.#held.delete(goalId);
  }

  async #askForVerdict(checkId: string, scopeId: string, { end }: Extract<CheckOutcome, { kind: 'ended' }>) {
    const { host, places, say } = this.#parts;
    const current = this.#current;
    if (current?.isEndTold) return;
    const views = await captureViews(this.#parts, required(host, 'executionScope', scopeId));
    const complete = views.filter((view) => view.complete);
    const streams = complete.map(({ stream }) => join(places.scopesDir, scopeId, `${stream}.log`));
    if (say({ type: 'ended', checkId, end, streams }) && current !== undefined) current.isEndTold = true;
  }

  /** The worker's word counts only if it is what the receipts of the check say (WRK-05, SHUT-03). */
  async verdict({ checkId, verdict, artifactDigests }: Verdict): Promise<void> {
    const { host } = this.#parts;
    const run = committed(host, 'run', checkId)?.context;
    const scope = run && committed(host, 'executionScope', run.rootScopeId ?? '')?.context;
    const basis = run && basisOf(run);
    if (basis === undefined || scope === undefined || scope.parentScopeId === null)
      return this.#over(checkId, 'unknown_check');
    const outcome = checkOutcome(this.#parts, scope.scopeId);
    if (outcome.kind !== 'ended' || verdictOf(outcome.end) !== verdict) {
      return this.#over(checkId, 'verdict_contradicted');
    }
    const { recipeDigest: inputsDigest } = scope;
    const receiptId = receiptIdOf(checkId);
    const payload: Payload<'receipt.recorded'> = { receiptId, kind: 'quality', verdict, inputsDigest, artifactDigests };
    const receipt = draft('receipt.recorded', { to: ['goal', basis.goalId], payload, by, basis });
    const [recorded] = await host.submit([receipt]);
    this.#over(checkId, wasAccepted(recorded!) ? 'settled' : 'superseded');
  }

  #over(checkId: string, code: string): void {
    if (this.#current?.checkId === checkId) this.#current = undefined;
    this.#mayBeDue = true;
    this.#parts.say({ type: 'over', checkId, code });
  }

  /**
   * The worker speaks of the check that it has in hand. If this daemon knows of none, it is told so; if what came of it
   * could not be recorded when it came, that is tried again (CLAIM-04).
   */
  async reconcile(checkId: string): Promise<void> {
    if (this.#current?.checkId !== checkId) return this.#over(checkId, 'unknown_check');
    if (this.#current.scopeId !== undefined) await this.followed(this.#current.scopeId);
  }

  /** Whether a check runs, or has ended and is not settled: both need a worker that says what came of it. */
  isAnyOpen(): boolean {
    return this.#unsettled(['running']) !== undefined;
  }

  /** A check that has ended by itself, or was ended for good, and of which nothing is on record. */
  #unsettled(also: readonly CheckOutcome['kind'][] = []): Run | undefined {
    for (const run of openChecks(this.#parts)) {
      const { kind } = checkOutcome(this.#parts, run.rootScopeId);
      if (kind === 'ended' || kind === 'stopped' || kind === 'unfinished' || also.includes(kind)) return run;
    }
    return undefined;
  }
}
