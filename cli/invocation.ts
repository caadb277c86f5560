/** One run of the command line: its global options, its output, and its way to the daemon. */
import type { CallArguments, CallName, StreamArguments, StreamName } from '../actors/daemon/api/contract.ts';
import type { CallResults } from '../actors/daemon/api/results.ts';
import { type Places, placesOf, type Rendezvous, readRendezvous } from '../actors/runtime/places.ts';
import { Client, DaemonAbsent, type OnSilence } from './client.ts';
import { credentialOf, workOf } from './credential.ts';
import { fromApi } from './failure.ts';
import { type Answer, Output } from './output.ts';
import { requireOwn } from './ownership.ts';
import { line } from './print/escape.ts';
import { version } from './version.ts';

export interface GlobalOptions {
  readonly json?: boolean;
  readonly stateDir?: string;
  readonly autostart?: boolean;
  readonly color?: boolean;
  readonly quiet?: boolean;
  readonly requestId?: string;
}

/** Commands that only look: an answer that takes this long means a stopped or starved daemon, so they say that. */
const lookWithinMs = 15_000;
const looks = new Set<CallName>(['status', 'processes', 'events', 'explain', 'config']);
const isLook = (name: CallName): boolean => looks.has(name) || /\.(list|show)$/.test(name);

export class Invocation {
  readonly globals: GlobalOptions;
  readonly places: Places;
  readonly output: Output;
  #requestId: string | undefined;

  constructor(globals: GlobalOptions) {
    this.globals = globals;
    this.places = placesOf({ stateDir: globals.stateDir, env: process.env });
    this.output = new Output({
      json: globals.json ?? false,
      quiet: globals.quiet ?? false,
      color: globals.color ?? true,
    });
  }

  /** Identifies this change, given or made here: what was sent and not answered can be repeated without harm. */
  get requestId(): string {
    this.#requestId ??= this.globals.requestId ?? crypto.randomUUID();
    return this.#requestId;
  }

  /** Asks the daemon, starting one if none serves and that is allowed. Throws what it refuses. */
  async call<Name extends CallName>(name: Name, args: CallArguments<Name>): Promise<Answer<CallResults[Name]>> {
    const body = args as { readonly requestId?: string };
    const reply = await this.withDaemon((client) =>
      isLook(name)
        ? client.call<CallResults[Name]>(name, body, lookWithinMs)
        : client.watchedCall<CallResults[Name]>(name, body),
    );
    this.output.clearStatus();
    if (!reply.ok) throw fromApi(reply.error);
    return reply;
  }

  async *stream<Line>(name: StreamName, args: StreamArguments<StreamName>): AsyncGenerator<Line, void, undefined> {
    const lines = await this.withDaemon(async (client) => {
      const source = client.stream<Line>(name, args, { onSilence: this.#silence() });
      // The connection is made by the first step; only then is it known whether somebody serves.
      return { source, first: await source.next() };
    });
    if (lines.first.done) return;
    try {
      yield lines.first.value;
      yield* lines.source;
    } finally {
      // Whoever has heard enough with the first line leaves before the rest was begun.
      await lines.source.return();
    }
  }

  /** Runs `ask` with the announced daemon; where nobody listens nothing was sent, so it is run again with a new one. */
  async withDaemon<T>(ask: (client: Client) => Promise<T>): Promise<T> {
    requireOwn(this.places.stateDir);
    const rendezvous = readRendezvous(this.places);
    if (rendezvous) {
      this.#mentionOtherVersion(rendezvous);
      try {
        return await ask(new Client(rendezvous, () => credentialOf(this.places)));
      } catch (cause) {
        if (!(cause instanceof DaemonAbsent)) throw cause;
      }
    }
    // A daemon that is started by work would belong to it, and end with it.
    if (this.globals.autostart === false || workOf() !== undefined)
      throw await (await import('./unserved.ts')).unserved(this.places);
    const { ensureServing } = await import('./autostart.ts');
    this.output.status('starting the daemon');
    const { client } = await ensureServing(this.places);
    return ask(client);
  }

  /** Says that nothing comes because nobody answers, again only when it has lasted twice as long. */
  #silence(): OnSilence {
    let nextMs = 0;
    return (silentMs, pid) => {
      if (silentMs === 0) this.output.note(line`the daemon (pid ${pid}) answers again`);
      else if (silentMs >= nextMs)
        this.output.note(
          line`the daemon (pid ${pid}) has not answered for ${Math.round(silentMs / 1_000)} s; it may be stopped or starved. Waiting on`,
        );
      else return;
      nextMs = 2 * silentMs;
    };
  }

  #mentionOtherVersion(rendezvous: Rendezvous): void {
    if (rendezvous.version === version || !process.stderr.isTTY) return;
    this.output.note(
      line`note: the daemon is version ${rendezvous.version}, this is ${version}; try: custody daemon restart --keep-work`,
    );
  }
}

/** An answer made here, in the shape of a Reply. */
export const localAnswer = <Data>(command: string, data: Data, exitCode = 0): Answer<Data> => ({
  command,
  data,
  warnings: [],
  journalPosition: null,
  exitCode,
});
