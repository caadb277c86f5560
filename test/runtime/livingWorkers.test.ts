/** REC-05: every worker that may live is counted, however many there are. */
import { expect, it } from 'vitest';
import { livingWorkers } from '../../actors/daemon/worker/workerLaunch.ts';
import type { Draft } from '../../actors/host/outcome.ts';
import { protocol } from '../../machines/protocol.ts';
import { defaultLimit } from '../../persistence/paging.ts';
import { producer, testHost } from '../host/support/testHost.ts';
import { workerInput } from '../machines/support/workerSamples.ts';

it('finds also those behind the first page', async () => {
  const { host, store } = testHost({ ...protocol });
  const ids = Array.from({ length: 6 * defaultLimit }, (_, at) => `K${at}`);
  for (const incarnationId of ids) {
    const of = { incarnationId, scopeId: `S${incarnationId}`, registrationId: `M${incarnationId}` };
    const payload = workerInput(of as Parameters<typeof workerInput>[0]);
    const actor = { kind: 'workerIncarnation', id: incarnationId } as const;
    await host.submit([{ type: 'worker.requested', actor, producer, payload } as Draft]);
  }
  expect(livingWorkers({ host, store }).map(({ incarnationId }) => incarnationId)).toEqual(ids);
});
