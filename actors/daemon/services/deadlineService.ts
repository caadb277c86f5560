/**
 * Hard deadlines of runs (K5). They are rows, so they outlive the daemon; reaching one asks for a drain and says nothing
 * about any process (TIME-02).
 */
import { Backoff } from '../../observe/streams/backoff.ts';
import type { Deadline, DeadlineCommand, DeadlineSignal } from '../../observe/streams/deadlines.ts';
import { createStreamInput, type StreamInput } from '../../observe/streams/input.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { draft } from '../../runtime/submission.ts';
import { retryPauses } from '../config.ts';

export interface ScopeDeadline extends Deadline {
  readonly scopeId: string;
}

export interface DeadlineService {
  readonly commands: StreamInput<DeadlineCommand<ScopeDeadline>>;
  /** Stores the hard deadline of a launch, `ms` from now, before the launch: none begins without its deadline. */
  record(scopeId: string, ms: number): ScopeDeadline;
  /** Lets a stored one take effect, unless its scope is over already. */
  arm(deadline: ScopeDeadline): void;
  /** Arms what earlier daemons of this boot stored; deadlines of other boots are void (TIME-03). */
  resume(): void;
  /** Rejects when the store takes nothing; the deadline is reached again after a pause then. */
  onSignal(signal: DeadlineSignal<ScopeDeadline>): Promise<void>;
  /** Forgets the deadline of a scope that is over, or was never launched. */
  disarm(scopeId: string): void;
}

type Parts = Pick<Runtime, 'host' | 'store' | 'clock' | 'log' | 'config'>;

const idOf = (scopeId: string): string => `hard:${scopeId}`;

export function createDeadlineService({ host, store, clock, log, config }: Parts): DeadlineService {
  const commands = createStreamInput<DeadlineCommand<ScopeDeadline>>();
  const stored = new Set<string>();
  const backoff = new Backoff(retryPauses(config));

  function arm(deadline: ScopeDeadline): void {
    if (stored.has(deadline.scopeId)) commands.send({ arm: deadline });
  }

  function disarm(scopeId: string): void {
    if (!stored.delete(scopeId)) return;
    commands.send({ disarm: idOf(scopeId) });
    try {
      store.write(() => store.deadlines.disarm(idOf(scopeId)));
    } catch (error) {
      // The next daemon finds the row, and the scope that it is about is over then as well.
      log.warn({ scopeId, code: (error as { code?: unknown }).code }, 'a deadline that is over could not be removed');
    }
  }

  async function askForDrain({ scopeId, deadlineId, ...rest }: ScopeDeadline): Promise<void> {
    const payload = { cause: 'deadline' as const, requestId: deadlineId };
    const eventId = `${store.installationId}:dl:${deadlineId}`;
    const to = ['executionScope', scopeId] as const;
    try {
      await host.submit([draft('drain.requested', { to, payload, by: 'time-service', eventId })]);
    } catch (error) {
      arm({ ...rest, scopeId, deadlineId, monoMs: backoff.later(deadlineId, clock.monoMs()) });
      throw error;
    }
    backoff.reset(deadlineId);
  }

  return {
    commands,
    arm,
    disarm,
    record(scopeId, ms) {
      const bootId = clock.bootId();
      const monoMs = Math.ceil(clock.monoMs() + ms);
      const actor = { kind: 'executionScope', id: scopeId };
      store.write(() =>
        store.deadlines.arm({ deadlineId: idOf(scopeId), actor, purpose: 'hard', bootId, monoMs, basis: null }),
      );
      stored.add(scopeId);
      return { deadlineId: idOf(scopeId), bootId, monoMs, scopeId };
    },
    resume() {
      const bootId = clock.bootId();
      for (const { deadlineId, actor, ...row } of store.deadlines.ofOtherBoots(bootId, 1_000)) {
        log.info({ scopeId: actor.id, bootId: row.bootId }, 'a deadline of an earlier boot is void');
        store.write(() => store.deadlines.disarm(deadlineId));
      }
      for (const { deadlineId, actor, monoMs } of store.deadlines.due(bootId, Number.MAX_SAFE_INTEGER, 10_000)) {
        stored.add(actor.id);
        arm({ deadlineId, bootId, monoMs, scopeId: actor.id });
      }
    },
    async onSignal(signal) {
      if (signal.type === 'graceGranted') {
        log.info({ suspendedMs: signal.suspendedMs }, 'the machine was suspended: deadlines get one grace period');
        return;
      }
      if (signal.type === 'reached') await askForDrain(signal.deadline);
      disarm(signal.deadline.scopeId);
    },
  };
}
