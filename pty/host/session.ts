/**
 * One terminal session: a pseudo terminal, the guardian at its other end, the transcript, and whoever watches. Bytes go
 * to the transcript first and to viewers afterwards. It ends when the guardian's end marker has been read, which no byte
 * of the work can follow, or as incomplete when the daemon says that no marker will come.
 */
import { randomBytes } from 'node:crypto';
import { createEndMarkerScanner } from '../launch/endMarker.ts';
import { type Launch, type LaunchReady, launchGuardian } from '../launch/launch.ts';
import { defaultSegmentBytes } from '../transcript/layout.ts';
import type { TranscriptFault, TranscriptWriter } from '../transcript/writer.ts';
import { HostError } from '../wire/hostError.ts';
import type { CaptureEnd, CaptureFault, HostEvent, RequestOf, SessionReport } from '../wire/messages.ts';
import { Batch } from './batch.ts';
import { Coalesced } from './coalesced.ts';
import { Master, type Size } from './master.ts';
import type { ScreenView, SessionScreens } from './ports.ts';
import { RememberedInputs } from './rememberedInputs.ts';
import { readStored } from './storedBytes.ts';
import { Viewer, type ViewerOptions } from './viewer.ts';

export interface SessionOptions {
  readonly request: RequestOf<'open'>;
  readonly transcript: TranscriptWriter;
  readonly screens: SessionScreens;
  /** To the daemon. */
  readonly report: (event: HostEvent) => void;
  readonly clock: () => number;
  readonly limits: SessionLimits;
}

export interface SessionLimits {
  readonly inputMaxBytes: number;
  /** How long a guardian waits for this host to have read its marker. */
  readonly lingerMs: number;
  /** How long after a guardian's end its marker may still be on the way. */
  readonly finalDrainMs: number;
  /** Activity is reported at once and then at most this often. */
  readonly activityMs: number;
}

type Waiter = () => void;

/** A disk that takes longer is taken to be stuck; the end is told whenever it comes. */
const longestSyncMs = 60_000;

export class Session {
  readonly id: string;
  readonly inputs = new RememberedInputs();
  readonly #options: SessionOptions;
  readonly #marker = randomBytes(16).toString('hex');
  readonly #scanner: ReturnType<typeof createEndMarkerScanner>;
  readonly #master: Master;
  readonly #viewers = new Set<Viewer>();
  readonly #changed = new Set<Waiter>();
  readonly #activity: Coalesced<Extract<HostEvent, { event: 'activity' }>>;
  readonly #input: Coalesced<HostEvent>;
  #launch: Launch | undefined;
  #state: SessionReport['state'] = 'gated';
  #isGuardianLiving = true;
  #isAbandoned = false;
  readonly #batch = new Batch((chunks) => this.#read(chunks));
  #activitySeq = 0;
  #inputBytes = 0;
  #lastOutputMs: number;
  #fault: CaptureFault | null = null;
  #end: CaptureEnd | null = null;
  #isClosing = false;

  /** Opens the terminal. Throws when the system has none left. */
  constructor(options: SessionOptions) {
    const { request, limits, clock } = options;
    this.id = request.sessionId;
    this.#options = options;
    this.#scanner = createEndMarkerScanner(this.#marker);
    this.#lastOutputMs = clock();
    this.#activity = new Coalesced(limits.activityMs, (event) => options.report({ ...event, quietMs: this.quietMs }));
    this.#input = new Coalesced(limits.activityMs, options.report);
    this.#master = new Master({
      cols: request.cols,
      rows: request.rows,
      inputMaxBytes: limits.inputMaxBytes,
      output: (chunk) => this.#batch.push(chunk),
      broken: (error) => {
        this.#batch.flush();
        this.#finishCapture(`terminal_lost:${error?.code ?? 'closed'}`);
      },
    });
  }

  /** Starts guardian and gated workload on the terminal. Throws GuardianLaunchError; nothing is left of it then. */
  async launch(): Promise<LaunchReady> {
    const { launch } = this.#options.request;
    const { slave } = this.#master;
    const terminal = { marker: this.#marker, lingerMs: this.#options.limits.lingerMs };
    try {
      this.#launch = await launchGuardian({ ...withoutUndefined(launch), terminal, stdio: [slave, slave, slave] });
    } catch (error) {
      this.#finishCapture('never_launched');
      throw error;
    }
    void this.#launch.exited.then(() => this.#guardianEnded());
    if (this.#isAbandoned) await this.#launch.abandon();
    return this.#launch.ready;
  }

  /** The daemon has committed the release. See Launch.openGate. */
  async release(): ReturnType<Launch['openGate']> {
    const opened = await this.#launch!.openGate();
    if (this.#state === 'gated') this.#state = 'running';
    return opened;
  }

  /** Nothing of it runs when this resolves, unless it had been released; one that is still being launched is ended as soon as it is there. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    await this.#launch?.abandon();
  }

  get isGated(): boolean {
    return this.#state === 'gated';
  }

  get isEnded(): boolean {
    return this.#end !== null;
  }

  get size(): Size {
    return this.#master.size;
  }

  /** Recorded, then shown. */
  #read(chunks: readonly Buffer[]): void {
    if (this.#isClosing) return;
    const pieces: Buffer[] = [];
    for (const chunk of chunks) pieces.push(...this.#scanner.push(chunk));
    this.#record(pieces);
    if (this.#scanner.isReached) this.#finishCapture(null);
  }

  #record(pieces: readonly Buffer[]): void {
    if (pieces.length === 0) return;
    const { transcript, screens, clock } = this.#options;
    const offset = transcript.offset;
    transcript.append(pieces);
    for (const viewer of this.#viewers) viewer.output(offset, pieces);
    screens.advance(this.id, transcript.offset);
    this.#lastOutputMs = clock();
    this.#activitySeq += 1;
    const { id: sessionId } = this;
    this.#activity.put({ event: 'activity', sessionId, activitySeq: this.#activitySeq, bytes: transcript.offset });
    this.#wake();
  }

  /** Called by the transcript, once: something is missing in it. The work goes on (ruling 10). */
  faulted({ reason, errno, code }: TranscriptFault): void {
    this.#fault = { reason, errno, code };
    this.#options.report({ event: 'fault', sessionId: this.id, fault: this.#fault });
  }

  /**
   * The marker is written after the exit receipt and acknowledged before the guardian ends, so a guardian that has ended
   * without one was killed, or nobody read in time. Its work may live on (linux case 77): only the daemon knows.
   */
  #guardianEnded(): void {
    this.#isGuardianLiving = false;
    if (this.#isClosing) return;
    if (this.#state === 'gated') void this.finish('never_released', this.#options.limits.finalDrainMs);
    this.#options.report({ event: 'guardianEnded', sessionId: this.id });
  }

  /** Reads on for `withinMs`, unless the marker comes first, and then ends the capture as incomplete. */
  async finish(reason: string, withinMs: number): Promise<CaptureEnd> {
    await this.until(() => this.#end !== null, withinMs);
    this.#batch.flush();
    this.#finishCapture(reason);
    await this.until(() => this.#end !== null, longestSyncMs);
    if (this.#end === null) throw new HostError('transcript_unavailable', 'the transcript does not get to the disk');
    return this.#end;
  }

  /** The terminal goes at once; the end is told when it is on the disk, or is told to be incomplete. */
  #finishCapture(reason: string | null): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    if (reason !== null) this.#record(this.#scanner.rest());
    this.#launch?.acknowledgeOutput();
    this.#master.close();
    void this.#settle(reason);
  }

  async #settle(reason: string | null): Promise<void> {
    const { transcript, report } = this.#options;
    const known = reason ?? transcript.fault?.reason ?? (transcript.from > 0 ? 'oldest_dropped' : null);
    const { durable } = await transcript.end(known === null ? { complete: true } : { complete: false, reason: known });
    transcript.close();
    const missing = known ?? transcript.fault?.reason ?? (durable ? null : 'not_durable');
    this.#end = { eof: reason === null, complete: missing === null, reason: missing, bytes: transcript.offset };
    this.#state = 'ended';
    const event: HostEvent = { event: 'captureEnded', sessionId: this.id, end: this.#end };
    for (const viewer of this.#viewers) viewer.end(event);
    this.#activity.flush();
    this.#input.flush();
    report(event);
    this.#wake();
  }

  attach(options: Pick<ViewerOptions, 'socket' | 'mode' | 'readOnly'> & { readonly from: number | undefined }): Viewer {
    const { transcript, request } = this.#options;
    const { dir, segmentBytes = defaultSegmentBytes } = request.transcript;
    const source = {
      sessionId: this.id,
      end: () => transcript.offset,
      read: (offset: number, maxBytes: number) =>
        readStored({ dir, segmentBytes, from: transcript.from }, offset, maxBytes),
      screen: () => this.screen(),
      changedFrom: (offset: number) => this.#chooseWhoAnswers(offset),
    };
    const viewer = new Viewer({ ...options, from: options.from ?? transcript.offset, source });
    this.#viewers.add(viewer);
    viewer.begin();
    if (this.#end !== null) viewer.end({ event: 'captureEnded', sessionId: this.id, end: this.#end });
    return viewer;
  }

  leave(viewer: Viewer): void {
    viewer.leave();
    this.#viewers.delete(viewer);
    this.#chooseWhoAnswers(viewer.shownTo);
  }

  /** A viewer's terminal answers what the program asks about its terminal from `at` on; without one our own rendering does. */
  #chooseWhoAnswers(at: number): void {
    if (this.#end === null)
      this.#options.screens.answer(this.id, ![...this.#viewers].some(({ isAnswering }) => isAnswering), at);
  }

  /** An answer that nobody typed: it is no input that anybody waited for. A program that does not read it loses it. */
  reply(bytes: string): void {
    this.#master.write(Buffer.from(bytes)).catch(() => {});
  }

  /** See InputQueue.write; the bytes themselves are kept nowhere (PTY-08). */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#master.write(bytes);
    this.#noteInput(bytes.length);
  }

  /** Keys of a viewer. See InputQueue.type. */
  async type(bytes: Uint8Array): Promise<void> {
    await this.#master.type(bytes);
    this.#noteInput(bytes.length);
  }

  #noteInput(bytes: number): void {
    this.#inputBytes += bytes;
    this.#input.put({ event: 'input', sessionId: this.id, bytes: this.#inputBytes });
  }

  /** See InputQueue.room. */
  inputRoom(below: number): Promise<void> {
    return this.#master.inputRoom(below);
  }

  /** What was written under an id is told at once: its commit may be waited for by nobody any more. */
  noteTyped(inputId: string, bytes: number): void {
    this.#options.report({ event: 'typed', sessionId: this.id, inputId, bytes });
  }

  get pendingInputBytes(): number {
    return this.#master.pendingInputBytes;
  }

  /** False when the session has ended. */
  resize(size: Size): boolean {
    if (!this.#master.resize(size)) return false;
    this.#options.transcript.resize(size.cols, size.rows);
    this.#options.screens.advance(this.id, this.#options.transcript.offset);
    for (const viewer of this.#viewers) viewer.resized({ event: 'resized', sessionId: this.id, ...size });
    return true;
  }

  /** The screen with everything that has been read so far. */
  screen(): Promise<ScreenView> {
    return this.#options.screens.snapshot(this.id, this.#options.transcript.offset);
  }

  /** Milliseconds without output. */
  get quietMs(): number {
    return Math.max(0, Math.round(this.#options.clock() - this.#lastOutputMs));
  }

  /** Resolves with true as soon as `isTrue` holds, looked at after each change; with false after `withinMs`. */
  until(isTrue: () => boolean, withinMs: number): Promise<boolean> {
    if (isTrue()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (value: boolean): void => {
        clearTimeout(timer);
        this.#changed.delete(look);
        resolve(value);
      };
      const look = (): void => {
        if (isTrue()) settle(true);
      };
      const timer = setTimeout(() => settle(false), withinMs);
      this.#changed.add(look);
    });
  }

  #wake(): void {
    for (const look of [...this.#changed]) look();
  }

  get report(): SessionReport {
    return {
      sessionId: this.id,
      state: this.#state,
      ...this.size,
      bytes: this.#options.transcript.offset,
      activitySeq: this.#activitySeq,
      quietMs: this.quietMs,
      viewers: this.#viewers.size,
      pendingInputBytes: this.pendingInputBytes,
      guardian: this.#isGuardianLiving ? 'living' : 'ended',
      fault: this.#fault,
      end: this.#end,
    };
  }
}

/** An optional field that is absent, as `exactOptionalPropertyTypes` has it. */
function withoutUndefined(launch: RequestOf<'open'>['launch']) {
  const { graceMs, budgetMs, cgroup, ...rest } = launch;
  return {
    ...rest,
    ...(graceMs === undefined ? {} : { graceMs }),
    ...(budgetMs === undefined ? {} : { budgetMs }),
    ...(cgroup === undefined ? {} : { cgroup }),
  };
}
