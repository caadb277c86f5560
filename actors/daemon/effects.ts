/** Who executes what the charts ask for. A once-only effect that a former daemon left open is resolved by looking. */
import type { EffectParams } from '../../machines/effects.ts';
import type { Host } from '../host/api.ts';
import { committed } from '../runtime/actorAccess.ts';
import type { LaunchCoordinator } from './launch/coordinator.ts';

interface Executors {
  readonly launches: LaunchCoordinator;
  readonly drain: (order: EffectParams['drainScope']) => Promise<void>;
}

export function registerEffects(host: Host, { launches, drain }: Executors): void {
  /** Not released means that the gate stayed shut; released means that receipts or the kernel will tell. */
  async function resolveLaunch(scopeId: string): Promise<void> {
    if (committed(host, 'executionScope', scopeId)?.context.released === 'no')
      await launches.abandon(scopeId, 'launch_interrupted');
  }

  host.effects.register(
    'launchScope',
    ({ params }) => launches.launch(params.scopeId),
    ({ params }) => resolveLaunch(params.scopeId),
  );
  // A gate that was not opened closes with the link that held it; the receipts of the scope say which it was.
  host.effects.register(
    'openGate',
    ({ params }) => launches.openGate(params.scopeId),
    () => Promise.resolve(),
  );
  host.effects.register('drainScope', ({ params }) => drain(params));
}
