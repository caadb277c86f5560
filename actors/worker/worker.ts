/**
 * The scheduling worker: tells that it is alive, takes one check at a time, launches it under a guardian of its own and
 * says what its end amounts to. It decides nothing about a Goal: the daemon commits, and knows the Goal as it is then.
 */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { openCaptured } from '../../pty/launch/captureReading.ts';
import { type DaemonLink, keepLink } from './daemonLink.ts';
import { WorkerLaunches } from './launches.ts';
import type { CheckEnd, FromWorker, ToWorker, WorkerContext } from './messages.ts';
import { verdictOf } from './verdict.ts';

export interface RunningWorker {
  /** Stops telling and leaves; what was launched is its guardians' and the daemon's business. */
  close(): void;
  /** Resolves when the daemon does not know this worker (any more): there is nothing that it could do. */
  readonly dismissed: Promise<string>;
}

/** Why a registration is refused for good. What is refused while a daemon starts is asked for again. */
const final: ReadonlySet<string> = new Set(['unknown_incarnation', 'replaced', 'other_token', 'not_registered_worker']);

export function startWorker(context: WorkerContext): RunningWorker {
  let dismiss!: (code: string) => void;
  const dismissed = new Promise<string>((resolve) => {
    dismiss = resolve;
  });
  const worker = new Worker(context, dismiss);
  return { dismissed, close: () => worker.close() };
}

class Worker {
  readonly #context: WorkerContext;
  readonly #dismiss: (code: string) => void;
  readonly #link: DaemonLink;
  readonly #launches: WorkerLaunches;
  readonly #timer: NodeJS.Timeout;
  #targetId: string;
  #seq = 0;
  #isRegistered = false;
  #check: string | undefined;
  /** Said again with every tick until it is settled: a store that is full today takes it tomorrow (CLAIM-04). */
  #verdict: Extract<FromWorker, { type: 'verdict' }> | undefined;

  constructor(context: WorkerContext, dismiss: (code: string) => void) {
    this.#context = context;
    this.#dismiss = dismiss;
    this.#targetId = context.targetId;
    this.#launches = new WorkerLaunches(context, (message) => this.#link.say(message));
    this.#link = keepLink(context.socket, context.retryMs, {
      connected: () => this.#register(),
      heard: (message) => void this.#heard(message),
      lost: () => this.#lost(),
    });
    this.#timer = setInterval(() => this.#tick(), context.tickIntervalMs);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#link.close();
  }

  get #speaker() {
    const { incarnationId, runtimeId, registrationId, token } = this.#context;
    return { incarnationId, runtimeId, registrationId, token };
  }

  #register(): void {
    this.#link.say({ type: 'register', ...this.#speaker, scopeId: this.#context.scopeId });
  }

  #tick(): void {
    if (!this.#isRegistered) return;
    this.#seq += 1;
    const { nodeId } = this.#context;
    const said = { targetId: this.#targetId, nodeId, seq: this.#seq, checkId: this.#check ?? null };
    this.#link.say({ type: 'tick', ...this.#speaker, ...said });
    if (this.#verdict !== undefined) this.#link.say(this.#verdict);
  }

  /** A check that runs goes on: the next daemon finds its scope, and asks for the verdict when it is proved. */
  #lost(): void {
    this.#isRegistered = false;
    this.#launches.abandonUnopened();
  }

  async #heard(message: ToWorker): Promise<void> {
    switch (message.type) {
      case 'registered':
        this.#isRegistered = true;
        this.#targetId = message.targetId;
        return this.#tick();
      case 'refused':
        if (final.has(message.code)) this.#dismiss(message.code);
        return;
      case 'target':
        this.#targetId = message.targetId;
        return this.#tick();
      case 'check':
        return this.#begin(message.checkId);
      case 'spawn':
        return this.#launches.spawn(message.request);
      case 'open':
        return this.#launches.open(message.launchId);
      case 'abandon':
        return this.#launches.abandon(message.launchId);
      case 'ended':
        return this.#judge(message);
      case 'over':
        if (this.#check === message.checkId) this.#check = undefined;
        if (this.#verdict?.checkId === message.checkId) this.#verdict = undefined;
        return this.#tick();
    }
  }

  #begin(checkId: string): void {
    if (this.#check !== undefined && this.#check !== checkId) return;
    this.#check = checkId;
    this.#link.say({ type: 'begin', checkId });
  }

  async #judge({
    checkId,
    end,
    streams,
  }: {
    checkId: string;
    end: CheckEnd;
    streams: readonly string[];
  }): Promise<void> {
    this.#check = checkId;
    const verdict = verdictOf(end);
    if (verdict === undefined) return;
    const digests = await Promise.all(streams.map(digestOf));
    const artifactDigests = digests.filter((digest) => digest !== undefined);
    this.#verdict = { type: 'verdict', checkId, verdict, artifactDigests };
    this.#link.say(this.#verdict);
  }
}

/** Undefined for a stream that is not there as a file any more, or cannot be read: it is no artifact then. */
async function digestOf(path: string): Promise<string | undefined> {
  try {
    const file = await openCaptured(path);
    if (file === undefined) return undefined;
    const hash = createHash('sha256');
    await pipeline(file.createReadStream(), hash);
    return hash.digest('hex');
  } catch {
    return undefined;
  }
}
