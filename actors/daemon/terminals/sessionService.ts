/**
 * Between the PTY host and the durable sessions: what the host sees becomes events, and what the sessions have learned
 * tells the host when it may stop reading. Facts of the host are in its reports until they are committed here, so a daemon
 * that dies in between loses none of them.
 */
import type { Observation } from '../../../machines/identity.ts';
import {
  isCaptureOver,
  isOutputNews,
  isSessionSettled,
  isWorkloadOver,
  type SessionSnapshot,
} from '../../../machines/ptySession.ts';
import type { Launch } from '../../../pty/launch/launch.ts';
import { readTranscript } from '../../../pty/transcript/reader.ts';
import type { CaptureEnd, HostEvent, SessionReport } from '../../../pty/wire/messages.ts';
import { Backoff } from '../../observe/streams/backoff.ts';
import { everyActor, intact } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { draft } from '../../runtime/submission.ts';
import { discardUnrecorded, rememberedSessions, transcriptDirOf } from '../../runtime/unrecorded.ts';
import { retryPauses } from '../config.ts';
import type { HostLink } from './hostLink.ts';
import { launchInTerminal, type TerminalRequest } from './terminalLaunch.ts';

type Parts = Pick<Runtime, 'host' | 'clock' | 'log' | 'config' | 'places'> & {
  readonly link: HostLink;
  /** Whether this daemon is launching in that scope just now. */
  readonly isLaunching: (scopeId: string) => boolean;
};

const by = 'capture';

/** A holder that takes longer to say what it has seen is asked again later. */
const refreshMs = 2_000;

export interface Activity {
  readonly activitySeq: number;
  readonly bytes: number;
  readonly sampledAt: Observation['sampledAt'];
}

export interface TypedInput {
  readonly inputId: string;
  readonly bytes: number;
}

/** What its holder knows of an input. A host of an earlier version says neither. */
export interface RememberedInput extends TypedInput {
  readonly bracketed?: boolean;
  /** See inputDigest. */
  readonly digest?: string;
}

export class SessionService {
  readonly #parts: Parts;
  /** The newest output of each session, journaled or not. */
  readonly #activity = new Map<string, Activity>();
  /** Sessions that the host holds, and whether their guardian has ended without the end of their output. */
  readonly #held = new Map<string, { isGuardianLost: boolean }>();
  #emptied: (() => void) | undefined;
  #isRecovered = false;
  #isLookingAgain = false;
  readonly #backoff: Backoff;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#backoff = new Backoff(retryPauses(parts.config));
    parts.link.listen({
      connected: (sessions) => this.#connected(sessions),
      event: (event) => this.#logged(event.event, this.#onEvent(event)),
      lost: () => this.#logged('host lost', this.#lost()),
    });
  }

  /**
   * Learns what became of the terminals that earlier daemons opened. Without a host they are gone (PTY-10). It comes before
   * the receipts are read, so that the loss of a terminal is told before the end of its work that followed from it.
   */
  async recover(): Promise<void> {
    const { link } = this.#parts;
    try {
      if (this.#open().length > 0 && (await link.adopt()) === undefined) await this.#lost();
      this.#discardOver();
      this.#isRecovered = true;
    } catch (error) {
      link.regain();
      throw error;
    }
  }

  /** Of every session, what `mayLackStatus` says of one: the daemon that should have asked may have died before it did. */
  settleWithoutStatus(): Promise<void> {
    return this.#endWithoutStatus({ settled: false });
  }

  /**
   * To be called when a run has ended, and when a guardian is known to be lost: once both are so, no receipt will say how
   * the agent ended, and its session waits for none.
   */
  mayLackStatus(runId: string): void {
    this.#logged('status', this.#endWithoutStatus({ link: { name: 'runId', value: runId } }));
  }

  async #endWithoutStatus(sessions: Parameters<typeof everyActor>[2]): Promise<void> {
    const { host } = this.#parts;
    for (const { snapshot } of everyActor(host, 'ptySession', sessions)) {
      if (snapshot === 'corrupt' || isWorkloadOver(snapshot)) continue;
      const { sessionId, runId, scopeId } = snapshot.context;
      const run = intact(host, 'run', runId);
      if (run === undefined || run === 'corrupt' || run.context.end?.evidence !== 'kernel_observation') continue;
      const scope = intact(host, 'executionScope', scopeId);
      if (scope === undefined || scope === 'corrupt' || !scope.matches({ coverage: { unverified: 'gap' } })) continue;
      const payload = { evidenceEventId: run.context.end.eventId, reason: 'kernel_observation' };
      await this.#submit([
        draft('workload.endedWithoutStatus', { to: ['ptySession', sessionId], payload, by: 'session-manager' }),
      ]);
    }
  }

  /**
   * Sends the host home when every terminal is over (ruling 20). What it has not handed over yet, or does not answer,
   * keeps it: the next daemon asks again.
   */
  async dismissHost(): Promise<void> {
    try {
      const client = await this.#parts.link.adopt();
      if (client === undefined) return;
      await this.#allHandedOver();
      await client.ask({ do: 'leave' });
      await this.#parts.link.left();
    } catch (error) {
      this.#parts.log.warn({ code: (error as { code?: unknown }).code }, 'the PTY host stays');
    }
  }

  /** The marker of a proved scope is on its way; without the bound a lost one would keep the daemon. */
  #allHandedOver(): Promise<void> {
    if (!this.holdsAny) return Promise.resolve();
    const { clock, config } = this.#parts;
    return new Promise((resolve) => {
      const stop = clock.wakeAt(clock.monoMs() + config.captureJoinMs + 2_000, resolve);
      this.#emptied = () => {
        stop();
        resolve();
      };
    });
  }

  /** Learns what the terminal has said by now. False when its holder does not answer, or does not hold it. */
  async refresh(sessionId: string): Promise<boolean> {
    try {
      const client = await this.#parts.link.adopt();
      const reports = await client?.sessions({ fresh: true, withinMs: refreshMs });
      const report = reports?.find((session) => session.sessionId === sessionId);
      if (report !== undefined && report.activitySeq > 0) await this.#active(report);
      return report !== undefined;
    } catch {
      return false;
    }
  }

  latestActivity(sessionId: string): Activity | undefined {
    return this.#activity.get(sessionId);
  }

  /** As long as the host of an earlier daemon has said nothing, it may hold any. */
  mayHold(sessionId: string): boolean {
    return this.#held.has(sessionId) || !this.#isRecovered;
  }

  get holdsAny(): boolean {
    return this.#held.size > 0;
  }

  /** See launchInTerminal; the host is started if there is none. */
  async launch(request: TerminalRequest): Promise<Launch> {
    const { sessionId } = request;
    const client = await this.#parts.link.open();
    this.#held.set(sessionId, { isGuardianLost: false });
    try {
      return await launchInTerminal(client, request);
    } catch (error) {
      this.#held.delete(sessionId);
      throw error;
    }
  }

  /** What a committed change of a session asks of its terminal. */
  follow(session: SessionSnapshot): void {
    const { sessionId } = session.context;
    if (isSessionSettled(session)) this.#activity.delete(sessionId);
    if (!isCaptureOver(session) && isWorkloadOver(session)) this.#logged('finish', this.#finish(session));
  }

  /** What a daemon that was killed, or a host, left in memory of terminals that nobody holds. */
  #discardOver(): void {
    const { host, places } = this.#parts;
    for (const sessionId of rememberedSessions(places)) {
      const session = intact(host, 'ptySession', sessionId);
      if (session === undefined || (session !== 'corrupt' && isCaptureOver(session)))
        discardUnrecorded(places, sessionId);
    }
  }

  #open(): SessionSnapshot[] {
    const open: SessionSnapshot[] = [];
    for (const { snapshot } of everyActor(this.#parts.host, 'ptySession', { settled: false })) {
      if (snapshot !== 'corrupt' && !isCaptureOver(snapshot)) open.push(snapshot);
    }
    return open;
  }

  async #connected(reports: readonly SessionReport[]): Promise<void> {
    this.#held.clear();
    for (const { sessionId, guardian, end } of reports) {
      this.#held.set(sessionId, { isGuardianLost: guardian === 'ended' && end === null });
    }
    for (const report of reports) await this.#adopt(report);
    await this.#lost();
  }

  async #adopt({ sessionId, activitySeq, bytes, quietMs, end }: SessionReport): Promise<void> {
    await this.#typedBefore(sessionId);
    if (activitySeq > 0) await this.#active({ sessionId, activitySeq, bytes, quietMs });
    if (end !== null) return this.#ended(sessionId, end);
    const session = intact(this.#parts.host, 'ptySession', sessionId);
    if (session !== undefined && session !== 'corrupt') this.follow(session);
  }

  /** Sessions whose terminal nobody holds; those that are being opened just now are the launch's concern. */
  async #lost(): Promise<void> {
    if (!this.#parts.link.isConnected) this.#held.clear();
    for (const session of this.#open()) {
      const { sessionId, scopeId } = session.context;
      if (!this.#held.has(sessionId) && !this.#parts.isLaunching(scopeId)) await this.#unheld(session);
    }
    this.#isRecovered = true;
  }

  /** Nobody holds the terminal: its capture had ended before, or it was lost, or there never was one. */
  async #unheld({ context, value }: SessionSnapshot): Promise<void> {
    const { sessionId, status } = context;
    const reading = await readTranscript(transcriptDirOf(this.#parts.places, sessionId));
    const end = recordedEnd(reading);
    const isNeverBegun = value.workload === 'final' && status === null;
    if (end !== undefined || isNeverBegun) await this.#submit(finished(sessionId, end ?? notHeld));
    else await this.#submit([hostLost(sessionId, reading)]);
    discardUnrecorded(this.#parts.places, sessionId);
  }

  async #onEvent(event: HostEvent): Promise<void> {
    const { sessionId } = event;
    switch (event.event) {
      case 'activity':
        return this.#active({ ...event, quietMs: event.quietMs ?? 0 });
      case 'input':
        return this.#input(sessionId, event.bytes);
      case 'typed':
        return this.journalTyped(sessionId, event);
      case 'captureEnded':
        return this.#ended(sessionId, event.end);
      case 'guardianEnded': {
        this.#held.set(sessionId, { isGuardianLost: true });
        const session = intact(this.#parts.host, 'ptySession', sessionId);
        if (session !== undefined && session !== 'corrupt') this.follow(session);
        return;
      }
      case 'fault':
        this.#parts.log.warn({ sessionId, ...event.fault }, 'a transcript lost output');
        return;
      default:
        return;
    }
  }

  async #active(seen: { sessionId: string; activitySeq: number; bytes: number; quietMs: number }): Promise<void> {
    const { sessionId, activitySeq, bytes, quietMs } = seen;
    const { clock, host } = this.#parts;
    const monoMs = Math.max(0, Math.floor(clock.monoMs()) - quietMs);
    this.#activity.set(sessionId, { activitySeq, bytes, sampledAt: { monoMs, bootId: clock.bootId() } });
    const session = intact(host, 'ptySession', sessionId);
    if (session === undefined || session === 'corrupt' || !isOutputNews(session)) return;
    await this.journalActivity(sessionId);
  }

  /** Commits the newest output; before an idle deadline is reached, and where output changes the state (ruling 13). */
  async journalActivity(sessionId: string): Promise<void> {
    const payload = this.#activity.get(sessionId);
    if (payload === undefined) return;
    await this.#parts.host.submit([
      draft('session.output', { to: ['ptySession', sessionId], payload, by: 'pty-reader' }),
    ]);
  }

  /** Typed by a viewer. Only an answer that somebody waits for is worth a line of the journal. */
  async #input(sessionId: string, bytes: number): Promise<void> {
    const session = intact(this.#parts.host, 'ptySession', sessionId);
    if (session === undefined || session === 'corrupt') return;
    if (!session.matches({ workload: { running: 'needsInput' } })) return;
    const payload = { bytes, actor: 'viewer' };
    await this.#submit([draft('session.inputSent', { to: ['ptySession', sessionId], payload, by: 'pty-host' })]);
  }

  /**
   * Commits that an operator's input is in the terminal; its id is that of the request. Whoever asked for it, and the
   * host's own word of it, say the same. Of the input nothing but its size is kept (PTY-08).
   */
  async journalTyped(sessionId: string, { inputId: eventId, bytes }: TypedInput): Promise<void> {
    const payload = { bytes, actor: 'operator' };
    const said = { to: ['ptySession', sessionId], payload, by: 'sessions-send', eventId } as const;
    await this.#submit([draft('session.inputSent', said)]);
  }

  /** What an earlier daemon had typed and did not live to commit. A host of protocol 1 does not know of it. */
  async #typedBefore(sessionId: string): Promise<void> {
    for (const input of await this.#inputs(sessionId)) {
      if (this.#parts.host.applied(input.inputId).length === 0) await this.journalTyped(sessionId, input);
    }
  }

  /** Undefined for an input that its holder has forgotten, or when nobody can be asked. */
  async remembered(sessionId: string, inputId: string): Promise<RememberedInput | undefined> {
    const inputs = this.mayHold(sessionId) ? await this.#inputs(sessionId).catch(() => []) : [];
    return inputs.find((input) => input.inputId === inputId);
  }

  async #inputs(sessionId: string): Promise<readonly RememberedInput[]> {
    const client = await this.#parts.link.adopt();
    if (client === undefined || client.protocol < 2) return [];
    return ((await client.ask({ do: 'inputs', sessionId })) as { inputs: readonly RememberedInput[] }).inputs;
  }

  async #ended(sessionId: string, end: CaptureEnd): Promise<void> {
    await this.#submit(finished(sessionId, end));
    await (await this.#parts.link.adopt())?.ask({ do: 'forget', sessionId });
    discardUnrecorded(this.#parts.places, sessionId);
    this.#held.delete(sessionId);
    if (!this.holdsAny) this.#emptied?.();
  }

  /**
   * The work is over, and its guardian as well although it said nothing in the terminal: no marker can come. What is left
   * in the terminal is read for the bounded time (PTY-07). While the guardian lives, its marker ends the capture.
   */
  async #finish(session: SessionSnapshot): Promise<void> {
    const { sessionId } = session.context;
    const held = this.#held.get(sessionId);
    if (held === undefined) {
      // Also of a launch that is just giving up: nobody would ask again once it has.
      if (this.#isRecovered) await this.#unheld(session);
      return;
    }
    if (!held.isGuardianLost) return;
    const withinMs = this.#parts.config.captureJoinMs;
    const client = await this.#parts.link.adopt();
    await client?.ask({ do: 'finish', sessionId, reason: 'guardian_lost', withinMs }, withinMs + 10_000);
  }

  /** Whoever is left of the tree may hold the terminal for ever and is not at work there: what was said by now is kept. */
  async closeTerminalOf(scopeId: string): Promise<void> {
    const { host, link, config } = this.#parts;
    const [first] = host.list('ptySession', { link: { name: 'scopeId', value: scopeId }, limit: 1 });
    if (first === undefined || !this.#held.has(first.id)) return;
    const client = await link.adopt();
    const order = {
      do: 'finish',
      sessionId: first.id,
      reason: 'left_to_residents',
      withinMs: config.finalDrainMs,
    } as const;
    await client?.ask(order, config.finalDrainMs + 10_000);
  }

  /** Nothing new in an event that is repeated: ids follow from the session. */
  #submit(drafts: Parameters<Runtime['host']['submit']>[0]): Promise<unknown> {
    return this.#parts.host.submit(drafts);
  }

  #logged(what: string, work: Promise<void>): void {
    work.catch((error: unknown) => {
      const { code, message } = error as { code?: unknown; message?: string };
      this.#parts.log.error({ what, code, message }, 'what the PTY host reported could not be committed');
      this.#lookAgain();
    });
  }

  /** What the store did not take is in nobody's events any more, but in the reports and the files still (K5). */
  #lookAgain(): void {
    if (this.#isLookingAgain) return;
    this.#isLookingAgain = true;
    const { clock } = this.#parts;
    clock.wakeAt(this.#backoff.later('look', clock.monoMs()), () => {
      this.#isLookingAgain = false;
      this.#logged('another look', this.#look());
    });
  }

  async #look(): Promise<void> {
    const client = await this.#parts.link.adopt();
    if (client === undefined) {
      await this.#lost();
    } else {
      await this.#connected(await client.sessions());
    }
    await this.settleWithoutStatus();
    this.#backoff.reset('look');
  }
}

const notHeld: CaptureEnd = { eof: false, complete: false, reason: 'notHeld', bytes: 0 };

type Reading = Awaited<ReturnType<typeof readTranscript>>;

/** A host that had ended a capture wrote so into its transcript, whether or not a daemon heard of it. */
function recordedEnd(reading: Reading): CaptureEnd | undefined {
  if (reading.header === undefined) return undefined;
  const { complete, records, to, reasons } = reading;
  if (!records.some(({ kind }) => kind === 'end')) return undefined;
  return { eof: complete, complete, reason: reasons[0] ?? null, bytes: to };
}

/** The last report of the host may be old: how much there was, its transcript says. */
function hostLost(sessionId: string, reading: Reading) {
  const bytes = reading.header === undefined ? {} : { bytes: reading.to };
  const payload = { stream: 'terminal', errno: null, reason: 'hostLost', ...bytes } as const;
  return draft('capture.fault', { to: ['ptySession', sessionId], payload, by });
}

function finished(sessionId: string, { eof, complete, reason, bytes }: CaptureEnd) {
  const to = ['ptySession', sessionId] as const;
  const fault = reason === null ? {} : { fault: reason.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 64) };
  return [
    draft('capture.drainStarted', { to, payload: { boundMs: 0 }, by }),
    draft('capture.finished', { to, payload: { eof, truncated: !complete, ...fault, bytes }, by }),
  ];
}
