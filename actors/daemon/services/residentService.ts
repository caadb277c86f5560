/**
 * Looks whether a tree whose root has ended is left to its declared residents (D1): then it is not at work any more, its
 * terminal is closed, and it is ended with its worktree, unless it shall be kept. Guardians say who is there; one that says
 * nothing moves nothing (ruling 9).
 */
import { assessOwnership, isLeftToResidents } from '../../../machines/assessment.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import { everyActor, intact } from '../../runtime/actorAccess.ts';
import { createSequence, type Runtime } from '../../runtime/runtime.ts';
import { draft } from '../../runtime/submission.ts';
import type { GuardianTalk } from '../guardianTalk.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'log'> & {
  readonly guardians: GuardianTalk;
  /** Closes the terminal of a scope, if it has one, with what was read by then. */
  readonly closeTerminal: (scopeId: string) => Promise<void>;
};

const by = 'reconciler';

export class ResidentService {
  readonly #parts: Parts;
  readonly #nextId: (what: string) => string;
  readonly #scopes = new Set<string>();
  #looking: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#nextId = createSequence(parts.store);
    for (const { id, snapshot } of everyActor(parts.host, 'executionScope', { released: false }))
      if (snapshot !== 'corrupt') this.follow(id, snapshot);
  }

  /** Told of every commit to a scope; those without residents cost nothing. */
  follow(scopeId: string, scope: ScopeSnapshot): void {
    if (scope.context.residents.length === 0) return;
    if (scope.hasTag('capacityReleased')) this.#scopes.delete(scopeId);
    else this.#scopes.add(scopeId);
  }

  /** One look at a time; what comes meanwhile is seen by the next. */
  look(): void {
    if (this.#scopes.size === 0) return;
    this.#looking ??= Promise.all([...this.#scopes].map((scopeId) => this.#lookAt(scopeId)))
      .then(() => undefined)
      .catch((error: unknown) => {
        this.#parts.log.error({ code: (error as { code?: unknown })?.code }, 'residents could not be looked at');
      })
      .finally(() => {
        this.#looking = undefined;
      });
  }

  async #lookAt(scopeId: string): Promise<void> {
    const { host, guardians, closeTerminal } = this.#parts;
    const scope = this.#finished(scopeId);
    if (scope === undefined) return;
    const membership = await guardians.members(scopeId);
    if (membership === undefined) return;
    const { residents, residentsOnly } = scope.context;
    const present = membership.members.filter(({ state }) => state !== 'Z').map(({ name }) => name);
    const rules = present.map((name) => residents.find((one) => one.name === name)?.stop);
    const alone = present.length > 0 && membership.total === membership.members.length && !rules.includes(undefined);
    if (alone !== residentsOnly) {
      const to = ['executionScope', scopeId] as const;
      const eventId = this.#nextId(`res:${scopeId}`);
      await host.submit([draft('residents.observed', { to, payload: { alone }, by, eventId })]);
    }
    if (!alone) return;
    await closeTerminal(scopeId);
    if (!rules.includes('keep')) await this.#endWithWorktree(scopeId);
  }

  /** The scope while its root has ended and its tree may live. */
  #finished(scopeId: string): ScopeSnapshot | undefined {
    const scope = intact(this.#parts.host, 'executionScope', scopeId);
    if (scope === undefined || scope === 'corrupt' || assessOwnership(scope).state !== 'live') return undefined;
    return scope.matches({ workload: 'finished' }) && scope.matches({ coverage: 'live' }) ? scope : undefined;
  }

  /** A worktree that is being closed admits nobody any more, and its residents keep it from being sealed. */
  async #endWithWorktree(scopeId: string): Promise<void> {
    const { host } = this.#parts;
    const scope = this.#finished(scopeId);
    if (scope === undefined || !isLeftToResidents(scope) || !scope.matches({ termination: 'idle' })) return;
    const { generationId } = scope.context;
    const generation = generationId === null ? undefined : intact(host, 'worktreeGeneration', generationId);
    if (generation === undefined || generation === 'corrupt' || generation.matches({ lifecycle: 'open' })) return;
    const eventId = this.#nextId(`dr:${scopeId}`);
    const payload = { cause: 'completed' as const, requestId: eventId };
    await host.submit([draft('drain.requested', { to: ['executionScope', scopeId], payload, by, eventId })]);
  }
}
