/**
 * Hard deadlines of runs (K5). They are rows, so they outlive the daemon; reaching one asks for a drain and says nothing
 * about any process (TIME-02).
 */
import type { Deadline, DeadlineCommand, DeadlineSignal } from '../../observe/streams/deadlines.ts';
import { createStreamInput, type StreamInput } from '../../observe/streams/input.ts';
import type { Runtime } from '../runtime.ts';
import { draft } from '../submission.ts';

export interface ScopeDeadline extends Deadline {
  readonly scopeId: string;
}

export interface DeadlineService {
  readonly commands: StreamInput<DeadlineCommand<ScopeDeadline>>;
  /** Stores and arms the hard deadline of a scope, `ms` from now. */
  armHard(scopeId: string, ms: number): void;
  /** Arms what earlier daemons of this boot stored; deadlines of other boots are void (TIME-03). */
  resume(): void;
  onSignal(signal: DeadlineSignal<ScopeDeadline>): Promise<void>;
  /** Forgets the deadlines of a scope that is over. */
  disarm(scopeId: string): void;
}

type Parts = Pick<Runtime, 'host' | 'store' | 'clock' | 'log'>;

const idOf = (scopeId: string): string => `hard:${scopeId}`;

export function createDeadlineService({ host, store, clock, log }: Parts): DeadlineService {
  const commands = createStreamInput<DeadlineCommand<ScopeDeadline>>();
  const armed = new Set<string>();

  function arm(deadline: ScopeDeadline): void {
    armed.add(deadline.scopeId);
    commands.send({ arm: deadline });
  }

  function disarm(scopeId: string): void {
    if (!armed.delete(scopeId)) return;
    commands.send({ disarm: idOf(scopeId) });
    store.write(() => store.deadlines.disarm(idOf(scopeId)));
  }

  return {
    commands,
    disarm,
    armHard(scopeId, ms) {
      const bootId = clock.bootId();
      const monoMs = Math.ceil(clock.monoMs() + ms);
      const actor = { kind: 'executionScope', id: scopeId };
      store.write(() =>
        store.deadlines.arm({ deadlineId: idOf(scopeId), actor, purpose: 'hard', bootId, monoMs, basis: null }),
      );
      arm({ deadlineId: idOf(scopeId), bootId, monoMs, scopeId });
    },
    resume() {
      const bootId = clock.bootId();
      for (const { deadlineId, actor, ...row } of store.deadlines.ofOtherBoots(bootId, 1_000)) {
        log.info({ scopeId: actor.id, bootId: row.bootId }, 'a deadline of an earlier boot is void');
        store.write(() => store.deadlines.disarm(deadlineId));
      }
      for (const { deadlineId, actor, monoMs } of store.deadlines.due(bootId, Number.MAX_SAFE_INTEGER, 10_000)) {
        arm({ deadlineId, bootId, monoMs, scopeId: actor.id });
      }
    },
    async onSignal(signal) {
      if (signal.type === 'graceGranted') {
        log.info({ suspendedMs: signal.suspendedMs }, 'the machine was suspended: deadlines get one grace period');
        return;
      }
      const { scopeId, deadlineId } = signal.deadline;
      if (signal.type === 'reached') {
        const payload = { cause: 'deadline' as const, requestId: deadlineId };
        const eventId = `${store.installationId}:dl:${deadlineId}`;
        await host.submit([
          draft('drain.requested', { to: ['executionScope', scopeId], payload, by: 'time-service', eventId }),
        ]);
      }
      disarm(scopeId);
    },
  };
}
