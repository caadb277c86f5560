/** The inspector as the daemon keeps it: closed also while it is being opened, and honest about why it did not open. */
import { describe, expect, it } from 'vitest';
import { createActor, fromPromise, waitFor } from 'xstate';
import { inspectorMachine } from '../../../actors/daemon/inspector/machine.ts';
import type { InspectedDaemon, InspectorPort } from '../../../actors/daemon/inspector/port.ts';
import { InspectorService } from '../../../actors/daemon/inspector/service.ts';

function serviceOf(inspector: InspectorPort): InspectorService {
  const service = new InspectorService({
    inspector,
    clock: { monoMs: () => 0 },
    leaving: new AbortController().signal,
  });
  const actor = createActor(service.logic).start();
  service.serves({} as InspectedDaemon, () => actor);
  return service;
}

describe('the inspector', () => {
  it('is closed when it was dismissed while its port was being opened', async () => {
    let listening = (_port: number) => {};
    const shut: number[] = [];
    const actor = createActor(
      inspectorMachine.provide({
        actors: {
          listen: fromPromise<number, unknown>(
            () =>
              new Promise((resolve) => {
                listening = resolve;
              }),
          ) as never,
          shut: fromPromise<void, void>(async () => void shut.push(1)),
        },
      }),
    ).start();
    actor.send({ type: 'inspector.requested', place: { tcpPort: 0 } });
    actor.send({ type: 'inspector.dismissed' });
    expect(actor.getSnapshot().value).toBe('opening');
    listening(1);
    await waitFor(actor, (now) => now.matches('off') || now.matches('serving'));
    expect(actor.getSnapshot().value).toBe('off');
    expect(shut).toHaveLength(1);
    actor.send({ type: 'inspector.requested', place: { tcpPort: 0 } });
    listening(1);
    await waitFor(actor, (now) => now.matches('serving'));
  });

  it('blames the port only for what listening on it ran into', async () => {
    const missing = serviceOf({ listen: () => Promise.reject(new Error('Cannot find module')) });
    const request = { control: false, origins: [] };
    await expect(missing.open(request)).rejects.toMatchObject({
      code: 'inspector_unavailable',
      message: 'the inspector could not be started: Cannot find module',
    });
    const refused = Object.assign(new Error('listen EACCES'), { code: 'EACCES', syscall: 'listen' });
    const taken = serviceOf({ listen: () => Promise.reject(refused) });
    await expect(taken.open({ ...request, tcpPort: 80 })).rejects.toMatchObject({ code: 'port_unavailable' });
  });
});
