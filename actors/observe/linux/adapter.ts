import type { ProcessIdentity } from '../../../machines/identity.ts';
import type { Sample } from '../sample.ts';
import { CaptureError, captureIdentity } from './capture.ts';
import { listProcesses, type SeenProcess, type Survey, type SurveyRequest, sameProgram, surveyed } from './census.ts';
import { monotonicMs } from './clock.ts';
import { type ContextProblem, type ContextResult, isProblem, type OwnProcess, readContext } from './context.ts';
import {
  beganInOrder,
  type EvidenceContext,
  type GuardianEvidence,
  identityFromGuardian,
  mayHaveBegunBy,
} from './identity.ts';
import { type Eyes, LOOK_BYTES } from './look.ts';
import { type Occupants, type OccupantsRequest, occupantsBelow } from './occupants.ts';
import { type FileIdentity, holdsOpen } from './openFiles.ts';
import { findPidfdHolder, type PidfdHolder, sampleByPidfd } from './pidfd.ts';
import { Pins } from './pins.ts';
import type { ExistenceProbe } from './probe.ts';
import { createProcReader, type ProcReader } from './proc.ts';
import { sampleByPath } from './sampling.ts';
import { settledByRecord, unknown, type Verdict } from './verdict.ts';

export interface LinuxAdapterOptions {
  readonly installationId: ProcessIdentity['installationId'];
  /** Second witness for absence; without it, absence under hidepid stays unknown. */
  readonly probe?: ExistenceProbe;
  readonly procRoot?: string;
  readonly proc?: ProcReader;
  /** Two descriptors are held for each pinned process. 0 turns pinning off. */
  readonly pinLimit?: number;
  readonly own?: OwnProcess;
  /** CLOCK_MONOTONIC in ms; stamps samples and bounds a slice. */
  readonly monoMs?: () => number;
}

/** One recorded process that is to be sampled, optionally with a descriptor that names it beyond doubt. */
export interface SampleRequest {
  readonly identity: ProcessIdentity;
  readonly holder?: PidfdHolder | undefined;
}

export interface SliceOptions {
  /** Stop after the first sample that ends later than this; at least one is taken. Without it the event loop waits for all. */
  readonly budgetMs?: number;
  readonly context?: ContextResult;
}

function ownProcess(): OwnProcess {
  return { pid: process.pid, groups: [...(process.getgroups?.() ?? []), process.getegid?.() ?? -1] };
}

/**
 * Captures and observes processes on Linux. It reports what the kernel shows and never what should follow from it. All
 * calls are synchronous; a large pass is cut into slices by `sampleSlice`, and the caller yields in between.
 */
export class LinuxAdapter {
  readonly platform = 'linux';
  readonly #installationId: ProcessIdentity['installationId'];
  readonly #eyes: Eyes;
  readonly #own: OwnProcess;
  readonly #pins: Pins;
  readonly #monoMs: () => number;
  #lastBootId = 'unreadable';

  constructor(options: LinuxAdapterOptions) {
    this.#installationId = options.installationId;
    this.#eyes = {
      proc: options.proc ?? createProcReader(),
      procRoot: options.procRoot ?? '/proc',
      buffer: Buffer.allocUnsafe(LOOK_BYTES),
      probe: options.probe,
    };
    this.#own = options.own ?? ownProcess();
    this.#pins = new Pins(this.#eyes, options.pinLimit ?? 256);
    this.#monoMs = options.monoMs ?? monotonicMs;
  }

  /** Reads of procfs since the adapter was made (OBS-01). */
  get reads(): number {
    return this.#eyes.proc.reads;
  }

  get pinned(): number {
    return this.#pins.size;
  }

  /** The conditions of sampling, read anew; a problem instead when nothing can be observed at present. */
  context(): ContextResult {
    const context = readContext(this.#eyes.proc, this.#eyes.procRoot, this.#own);
    if (!isProblem(context)) this.#lastBootId = context.bootId;
    return context;
  }

  /** Identifies a living process at the entry point that started it (ID-07). Throws CaptureError. */
  capture(pid: number, adapterEvidence = ''): ProcessIdentity {
    const context = this.context();
    if (isProblem(context)) throw new CaptureError('context_unavailable', pid, context.problem);
    return captureIdentity(this.#eyes, context, { installationId: this.#installationId, pid, adapterEvidence });
  }

  /** A process that another program identified while it lived, in the notation of `capture`. */
  identityFrom(context: Omit<EvidenceContext, 'installationId'>, process: GuardianEvidence): ProcessIdentity {
    return identityFromGuardian({ installationId: this.#installationId, ...context }, process);
  }

  observe(identity: ProcessIdentity, holder?: PidfdHolder): Sample {
    return this.sampleSlice([{ identity, holder }])[0]!;
  }

  /**
   * Samples the first requests of a list, as many as the budget allows, in order; the result's length says how many. When
   * one of them looked over, the context is read once more, and no absence counts unless it is unchanged (OBS-05).
   */
  sampleSlice(requests: readonly SampleRequest[], options: SliceOptions = {}): Sample[] {
    const context = options.context ?? this.context();
    const until = options.budgetMs === undefined ? Number.POSITIVE_INFINITY : this.#monoMs() + options.budgetMs;
    const samples: Sample[] = [];
    let negatives = false;
    for (const request of requests) {
      const verdict = isProblem(context) ? unknown(context.problem) : this.#judge(request, context);
      negatives ||= verdict.result === 'ended';
      const now = this.#monoMs();
      samples.push(this.#sample(verdict, context, now));
      if (now >= until) break;
    }
    return negatives ? this.#recheck(samples, context) : samples;
  }

  /** Whether these processes of one boot began in this order; equal ticks are one moment. False where that cannot be told. */
  beganInOrder(identities: readonly ProcessIdentity[]): boolean {
    return beganInOrder(identities);
  }

  /** Whether a recorded process can have begun by a moment; `suspendedMs` is for how long its boot was suspended. */
  mayHaveBegunBy(identity: ProcessIdentity, moment: { bootId: string; monoMs: number }, suspendedMs: number): boolean {
    return mayHaveBegunBy(identity, moment, suspendedMs);
  }

  /**
   * The command name of a process for display (proc_pid_comm(5)), or undefined when it cannot be read. The process chose
   * it, so everything but plain ASCII comes escaped; it identifies nobody.
   */
  nameOf(pid: number): string | undefined {
    try {
      const name = this.#eyes.proc.text(`${this.#eyes.procRoot}/${pid}/comm`).replace(/\n$/, '');
      return name.replace(/[^\x20-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
    } catch {
      return undefined;
    }
  }

  /** What else the program with this pid consists of, itself included; one look at every process of the machine. */
  sameProgram(pid: number): readonly SeenProcess[] {
    return sameProgram(listProcesses(this.#eyes.proc, this.#eyes.procRoot), pid);
  }

  /** Looks into every process of this user, once; for what somebody asks for at this moment. */
  survey(request: SurveyRequest): Survey {
    return surveyed(this.#eyes.proc, this.#eyes.procRoot, request);
  }

  /** Who has to do with a directory, one process a step; for what somebody asks for at this moment. */
  occupantsBelow(request: Omit<OccupantsRequest, 'monoMs'>): Generator<void, Occupants> {
    return occupantsBelow(this.#eyes.proc, this.#eyes.procRoot, { ...request, monoMs: this.#monoMs });
  }

  /** Whether a process has a file open at this moment, for display; undefined when it does not let us look. */
  holdsOpen(pid: number, file: FileIdentity): boolean | undefined {
    return holdsOpen(this.#eyes.procRoot, pid, file);
  }

  /** Whether `holderPid` lets us see a pidfd of this process; asked once, when a scope is adopted or attached. */
  holderOf(identity: ProcessIdentity, holderPid: number): PidfdHolder | undefined {
    return findPidfdHolder(this.#eyes, identity, holderPid);
  }

  /** Holds descriptors on a process that will be sampled often; false when there is nothing to hold. */
  pin(identity: ProcessIdentity): boolean {
    return this.#pins.pin(identity);
  }

  unpin(identity: ProcessIdentity): void {
    this.#pins.unpin(identity);
  }

  /** Closes every pinned descriptor. */
  close(): void {
    this.#pins.close();
  }

  #judge({ identity, holder }: SampleRequest, context: Exclude<ContextResult, ContextProblem>): Verdict {
    const settled = settledByRecord(identity, this.#installationId, context);
    if (settled !== undefined) return settled;
    const pinned = this.#pins.sample(identity, context);
    if (pinned !== undefined) return pinned;
    const held = holder === undefined ? undefined : sampleByPidfd(this.#eyes, { identity, context, holder });
    return held ?? sampleByPath(this.#eyes, identity, context);
  }

  #sample(verdict: Verdict, context: ContextResult, monoMs: number): Sample {
    const known = !isProblem(context);
    return {
      result: verdict.result,
      reason: verdict.reason,
      sampledAt: { monoMs: Math.floor(monoMs), bootId: known ? context.bootId : this.#lastBootId },
      contextDigest: known ? context.digest : '',
      signalable: verdict.signalable,
      strength: verdict.strength,
    };
  }

  #recheck(samples: Sample[], before: ContextResult): Sample[] {
    const after = this.context();
    const unchanged = !isProblem(before) && !isProblem(after) && before.digest === after.digest;
    if (unchanged) return samples;
    const reason = isProblem(after) ? after.problem : 'context_changed';
    return samples.map((sample) =>
      sample.result === 'ended' ? { ...sample, ...unknown(reason, sample.strength) } : sample,
    );
  }
}

export function createLinuxAdapter(options: LinuxAdapterOptions): LinuxAdapter {
  return new LinuxAdapter(options);
}
