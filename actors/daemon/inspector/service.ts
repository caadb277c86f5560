/** Opens and closes the inspector for whoever may ask, and holds what is live of it: the machine knows only where it stands. */
import { type ActorRefFrom, fromPromise, waitFor } from 'xstate';
import type { Clock } from '../../observe/clock.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { inspectorMachine } from './machine.ts';
import type {
  InspectedDaemon,
  InspectorPlace,
  InspectorPort,
  OfferedPage,
  PageGrant,
  RunningInspector,
} from './port.ts';

type InspectorActor = ActorRefFrom<typeof inspectorMachine>;

interface Parts {
  /** Absent in a program that ships without a page. */
  readonly inspector: InspectorPort | undefined;
  readonly clock: Pick<Clock, 'monoMs'>;
  readonly leaving: AbortSignal;
}

export interface InspectorRequest extends PageGrant {
  /** Absent: where it is already, or whichever is free. */
  readonly tcpPort?: number | undefined;
}

export interface OpenedInspector extends OfferedPage {
  readonly tcpPort: number;
  /** It was there before. */
  readonly wasOpen: boolean;
}

export class InspectorService {
  readonly #parts: Parts;
  #daemon: InspectedDaemon | undefined;
  #running: RunningInspector | undefined;
  #actor: (() => InspectorActor) | undefined;
  /** Opening and closing one after the other: two that ask at once get the same one. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What the root invokes. */
  get logic(): typeof inspectorMachine {
    return inspectorMachine.provide({
      actors: {
        listen: fromPromise<number, InspectorPlace>(({ input }) => this.#listen(input)),
        watch: fromPromise<never, void>(async () => {
          throw (await this.#running?.failed) ?? new Error('it was gone before it was watched');
        }),
        shut: fromPromise<void, void>(() => this.#shut()),
      },
    });
  }

  /** From now on it can be opened. `actor` is where the root keeps it. */
  serves(daemon: InspectedDaemon, actor: () => InspectorActor): void {
    this.#daemon = daemon;
    this.#actor = actor;
  }

  /** Throws `inspector_unavailable`, `inspector_elsewhere` or `port_unavailable`. */
  open({ tcpPort, ...grant }: InspectorRequest): Promise<OpenedInspector> {
    return this.#serially(async () => {
      const actor = this.#available();
      const before = this.#running;
      if (before !== undefined && tcpPort !== undefined && tcpPort !== 0 && tcpPort !== before.tcpPort)
        throw elsewhere(before.tcpPort);
      if (before === undefined) {
        actor.send({ type: 'inspector.requested', place: { tcpPort: tcpPort ?? 0 } });
        const { context, value } = await waitFor(actor, (now) => now.matches('serving') || now.matches('off'));
        if (value === 'off') throw notOpened(tcpPort ?? 0, context.failure);
      }
      const running = this.#running as RunningInspector;
      return { tcpPort: running.tcpPort, wasOpen: before !== undefined, ...running.offer(grant) };
    });
  }

  /** Whether there was something to close. */
  close(): Promise<boolean> {
    return this.#serially(async () => {
      const actor = this.#actor?.();
      // While it comes back after a failure nothing runs, and it is there to be closed all the same.
      if (actor === undefined || actor.getSnapshot().matches('off')) return false;
      actor.send({ type: 'inspector.dismissed' });
      await waitFor(actor, (now) => now.matches('off'));
      return true;
    });
  }

  async #listen(place: InspectorPlace): Promise<number> {
    const { inspector } = this.#parts;
    if (inspector === undefined || this.#daemon === undefined) throw new Error('there is no inspector');
    // What failed is taken down before it is made anew.
    await this.#shut();
    this.#running = await inspector.listen(this.#daemon, place);
    return this.#running.tcpPort;
  }

  async #shut(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.close();
  }

  #available(): InspectorActor {
    this.#parts.leaving.throwIfAborted();
    const actor = this.#actor?.();
    if (this.#parts.inspector === undefined || actor === undefined) throw unavailable();
    if (actor.getSnapshot().matches('off')) this.#running = undefined;
    return actor;
  }

  #serially<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.catch(() => undefined).then(work);
    this.#last = next.catch(() => undefined);
    return next;
  }
}

const unavailable = (): OperatingError =>
  new OperatingError({
    code: 'inspector_unavailable',
    message: 'this daemon was built without the inspector',
    exitCode: 13,
    next: ['install the package of this version as it was published', 'custody daemon restart --keep-work'],
  });

const elsewhere = (tcpPort: number): OperatingError =>
  new OperatingError({
    code: 'inspector_elsewhere',
    message: `the inspector is open on port ${tcpPort} already`,
    exitCode: 13,
    next: ['custody inspect', 'custody inspect --close'],
    details: { tcpPort },
  });

/** Only what listen(2) has refused is about the port. */
function notOpened(tcpPort: number, failure: Error | null): OperatingError {
  const { code, syscall } = (failure ?? {}) as NodeJS.ErrnoException;
  if (syscall !== 'listen') return notLoaded(failure);
  const why = code === 'EADDRINUSE' ? 'something else listens there' : `it cannot be used (${code ?? 'unknown'})`;
  return new OperatingError(
    {
      code: 'port_unavailable',
      message: `port ${tcpPort} of 127.0.0.1: ${why}`,
      exitCode: 13,
      next: ['custody inspect', 'custody inspect --port PORT with another one'],
      details: { tcpPort, reason: code ?? null },
    },
    failure,
  );
}

const notLoaded = (failure: Error | null): OperatingError =>
  new OperatingError(
    {
      code: 'inspector_unavailable',
      message: `the inspector could not be started: ${failure?.message ?? 'for no known reason'}`,
      exitCode: 13,
      next: ['custody inspect', 'install the package of this version as it was published'],
    },
    failure,
  );
