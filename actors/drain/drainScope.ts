/**
 * Ends one scope (C.11-4): a launch that was not released is abandoned behind its gate; a guarded tree is ended by its
 * guardian, which alone can freeze, kill and wait for it; what a lost guardian left behind is signalled by verified
 * identity, which may end processes and never proves anything. Repeatable: a guardian that is draining already is joined.
 */
import { join } from 'node:path';
import type { EffectParams } from '../../machines/effects.ts';
import type { ScopeSnapshot } from '../../machines/executionScope.ts';
import { type ControlClient, controlClient } from '../../pty/launch/control.ts';
import { ControlError } from '../../pty/launch/controlError.ts';
import type { DrainEvent } from '../../pty/launch/controlMessages.ts';
import { committed } from '../daemon/actorAccess.ts';
import type { LaunchCoordinator } from '../daemon/launch/coordinator.ts';
import type { Runtime } from '../daemon/runtime.ts';
import { createSequence } from '../daemon/runtime.ts';
import type { ReceiptService } from '../daemon/services/receiptService.ts';
import { draft } from '../daemon/submission.ts';
import { endWitnesses } from './endWitnesses.ts';

export interface DrainParts
  extends Pick<Runtime, 'host' | 'store' | 'adapter' | 'places' | 'guardian' | 'config' | 'log' | 'clock'> {
  readonly receipts: ReceiptService;
  readonly launches: LaunchCoordinator;
}

type Order = EffectParams['drainScope'];
type Fact = 'drain.quiesced' | 'drain.signalled' | 'drain.budgetExhausted' | 'drain.inspectionFailed';

const by = 'drain-executor';

export function createDrainExecutor(parts: DrainParts): (order: Order) => Promise<void> {
  const nextId = createSequence(parts.store);

  async function report<Type extends Fact>(
    scopeId: string,
    type: Type,
    payload: Parameters<typeof draft<Type>>[1]['payload'],
  ) {
    await parts.host.submit([
      draft(type, { to: ['executionScope', scopeId], payload, by, eventId: nextId(`${type}:${scopeId}`) }),
    ]);
  }

  async function record(scopeId: string, event: DrainEvent, startedMonoMs: number): Promise<void> {
    switch (event.event) {
      case 'accepted':
        return;
      case 'quiesced':
        return report(scopeId, 'drain.quiesced', {
          members: Object.fromEntries(event.members),
          total: event.total,
          scans: event.scans,
        });
      case 'signalled':
        return report(scopeId, 'drain.signalled', { signalled: event.total, skippedGuardians: event.skippedGuardians });
      case 'budgetExhausted': {
        const elapsedMs = Math.round(parts.clock.monoMs() - startedMonoMs);
        return report(scopeId, 'drain.budgetExhausted', { elapsedMs, survivors: event.survivors });
      }
      case 'settled':
        await parts.receipts.look(scopeId);
    }
  }

  async function byGuardian({ scopeId, graceMs, budgetMs }: Order): Promise<void> {
    const startedMonoMs = parts.clock.monoMs();
    let client: ControlClient | undefined;
    try {
      client = await controlClient(join(parts.places.scopesDir, scopeId), {
        timeoutMs: parts.config.responseMs + 1_000,
      });
      for await (const event of client.terminate({ graceMs, budgetMs })) await record(scopeId, event, startedMonoMs);
    } finally {
      client?.close();
    }
  }

  /** The guardian gave no account of itself. Its receipts are asked first, then the kernel; silence is no answer. */
  async function withoutAnswer(order: Order, error: ControlError): Promise<void> {
    const { scopeId } = order;
    await parts.receipts.look(scopeId);
    const scope = committed(parts.host, 'executionScope', scopeId);
    if (scope === undefined || isOver(scope)) return;
    const guardian = scope.context.guardian && parts.adapter.observe(scope.context.guardian);
    if (guardian?.result === 'ended') {
      await endWitnesses(parts, scope, order.graceMs);
      return report(scopeId, 'drain.inspectionFailed', { reasonCode: 'guardian_gone', resumed: 0 });
    }
    const reasonCode = error.code === 'unresponsive' ? 'guardian_unresponsive' : 'guardian_unreachable';
    parts.log.warn({ scopeId, reasonCode }, 'the guardian did not answer a drain');
    return report(scopeId, 'drain.inspectionFailed', { reasonCode, resumed: 0 });
  }

  return async (order) => {
    const scope = committed(parts.host, 'executionScope', order.scopeId);
    if (scope === undefined || isOver(scope)) return;
    if (scope.context.released === 'no' && !scope.matches({ coverage: 'unverified' })) {
      return parts.launches.abandon(order.scopeId, 'drain_requested');
    }
    try {
      await byGuardian(order);
    } catch (error) {
      if (!(error instanceof ControlError)) throw error;
      await withoutAnswer(order, error);
    }
  };
}

const isOver = (scope: ScopeSnapshot): boolean => scope.hasTag('capacityReleased');
