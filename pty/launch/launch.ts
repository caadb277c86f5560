import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { LinkMessage, LinkProcess, LinkSilence } from './conversation.ts';
import { Conversation } from './conversation.ts';
import { errnoOf, GuardianLaunchError } from './errors.ts';
import type { LaunchFrame } from './frame.ts';
import { encodeFrame } from './frame.ts';
import { enterGroup } from './group.ts';

type Stream = number | Socket;

export interface LaunchRequest extends LaunchFrame {
  readonly guardianPath: string;
  /** The workload's stdin, stdout and stderr, as descriptors or sockets; the guardian itself keeps none of them. */
  readonly stdio: readonly [Stream, Stream, Stream];
  /** A program that starts the guardian with the words behind its own, for a launch under circumstances of its own. */
  readonly through?: readonly string[];
  /**
   * The guardian stays in this process's session: for a launcher that an interactive shell has started in the terminal
   * which its workload shall use. Without it a guardian has a session of its own, and the terminal must be a new one.
   */
  readonly sharesSession?: boolean;
  /** Directory of the control group that the guardian, and so all of its tree, is put into where that is possible. */
  readonly groupDirectory?: string | undefined;
}

/** Both identities and their context, as the guardian read them while neither pid could be reused. */
export interface LaunchReady {
  readonly guardian: LinkProcess;
  readonly workload: LinkProcess;
  readonly bootId: string;
  readonly pidns: string;
  readonly timens: string;
  readonly uid: number;
}

export interface GuardianExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Launch {
  readonly pid: number;
  readonly ready: LaunchReady;
  /**
   * Sends the gate byte, once; a second call returns the first answer. Call it only after the release intent has been
   * committed. Throws `not_released` when the guardian had already given up, `release_uncertain` when nobody can tell.
   */
  openGate(): Promise<{ released: true } | { execFailed: number }>;
  /**
   * Closes the link without the gate byte: the gated child ends unrun. Resolves when the guardian has been reaped. Once
   * the gate byte has been sent there is nothing to abandon, and this only waits.
   */
  abandon(): Promise<GuardianExit>;
  /**
   * Says that everything up to the end marker has been read, so that the guardian need not hold the terminal any longer.
   * Counts once, after the gate has been opened, and for a launch with a terminal only.
   */
  acknowledgeOutput(): void;
  /**
   * Settles when the guardian has ended and been reaped; code 0 exactly when the exit receipt is durable. A signal is no
   * word about the receipt: the guardian's other process may go on and write it (pty/guardian/witness.c).
   */
  readonly exited: Promise<GuardianExit>;
  /** Lets this process end although the guardian goes on. */
  unref(): void;
}

interface Started {
  readonly child: ChildProcess;
  /** Ends the guardian at once. Ours alone: a child that this process has not reaped cannot be another's pid. */
  readonly end: AbortController;
  readonly link: Socket;
  readonly conversation: Conversation;
  readonly exited: Promise<GuardianExit>;
  readonly handshakeMs: number;
}

/** The guardian's own environment: where an enclosing guardian listens, and nothing of ours. */
function guardianEnvironment(): Record<string, string> {
  const up = process.env.CUSTODY_GUARDIAN_UP;
  return up === undefined ? {} : { CUSTODY_GUARDIAN_UP: up };
}

function spawnFailure(error: unknown): GuardianLaunchError {
  const code = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'guardian_missing' : 'spawn_failed';
  return new GuardianLaunchError({ code, phase: 'spawn', errno: errnoOf(error), cause: error });
}

/** Detached, because a guardian must not share the session, and so the hang-up, of a launcher that did not ask for it. */
function spawnGuardian(request: LaunchRequest, end: AbortController): ChildProcess {
  const [file, ...args] = [...(request.through ?? []), request.guardianPath, 'run'];
  try {
    return spawn(file!, args, {
      cwd: '/',
      detached: request.sharesSession !== true,
      env: guardianEnvironment(),
      stdio: [...request.stdio, 'pipe'],
      signal: end.signal,
      killSignal: 'SIGKILL',
    });
  } catch (error) {
    throw spawnFailure(error);
  }
}

async function start(request: LaunchRequest): Promise<Started> {
  const frame = encodeFrame(request);
  const end = new AbortController();
  const child = spawnGuardian(request, end);
  const exited = new Promise<GuardianExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.on('error', (error) => reject(spawnFailure(error))); // also takes the report that `end` was used
  });
  const link = child.stdio[3] as Socket;
  const conversation = new Conversation(link);
  // It starts nobody before it has been told of its work, so nobody of the tree is left where it began.
  if (request.groupDirectory !== undefined) enterGroup(request.groupDirectory, child.pid!);
  link.write(frame);
  return { child, end, link, conversation, exited, handshakeMs: request.handshakeMs };
}

/**
 * Ends a guardian whose gate was never opened. Closing the link is enough for a running one, which then leaves its
 * receipts; one that has been stopped cannot see it and is killed. That continues its other process, which sees it then.
 */
async function dismiss(started: Started): Promise<GuardianExit> {
  started.link.destroy();
  const timer = setTimeout(() => started.end.abort(), started.handshakeMs);
  try {
    return await started.exited;
  } finally {
    clearTimeout(timer);
  }
}

function handshakeFailure(message: Exclude<LinkMessage | LinkSilence, { event: 'ready' }>): GuardianLaunchError {
  const phase = 'handshake';
  switch (message.event) {
    case 'refused':
      return new GuardianLaunchError({
        code: 'guardian_refused',
        phase,
        errno: message.errno === 0 ? null : message.errno,
        step: message.step,
        exitCode: message.exit,
      });
    case 'notReleased':
      return new GuardianLaunchError({ code: 'not_released', phase, step: message.reason });
    case 'silent':
      return new GuardianLaunchError({ code: 'handshake_timeout', phase });
    case 'ended':
      return new GuardianLaunchError({ code: 'guardian_died', phase });
    default:
      return new GuardianLaunchError({ code: 'protocol_error', phase });
  }
}

async function handshake(started: Started): Promise<LaunchReady> {
  const message = await started.conversation.next(started.handshakeMs);
  if (message.event !== 'ready') {
    await dismiss(started);
    throw handshakeFailure(message);
  }
  const { guardian, workload, boot, pidns, timens, uid } = message;
  return { guardian, workload, bootId: boot, pidns, timens, uid };
}

function notReleased(step: string): GuardianLaunchError {
  return new GuardianLaunchError({ code: 'not_released', phase: 'gate', step });
}

/** A lost answer after the gate byte says nothing about the workload, so it is never read as "did not run". */
async function release(started: Started): Promise<{ released: true } | { execFailed: number }> {
  started.link.write('G');
  const message = await started.conversation.next(started.handshakeMs);
  switch (message.event) {
    case 'released':
      return { released: true };
    case 'execFailed':
      return { execFailed: message.errno };
    case 'notReleased':
      throw notReleased(message.reason);
    default:
      throw new GuardianLaunchError({ code: 'release_uncertain', phase: 'gate', step: message.event });
  }
}

/** A guardian that has gone needs no acknowledgement, and its link takes none. */
function acknowledge(started: Started): void {
  if (started.link.writable) started.link.write('A');
}

/**
 * Starts a guardian with a gated child and returns when both identities are known. The workload has not run then and
 * will not before `openGate`. Throws GuardianLaunchError; by then nothing can come of the launch any more.
 */
export async function launchGuardian(request: LaunchRequest): Promise<Launch> {
  const started = await start(request);
  const ready = await handshake(started);
  let opened: ReturnType<Launch['openGate']> | undefined;
  let abandoned: Promise<GuardianExit> | undefined;
  let acknowledged = request.terminal === undefined;
  return {
    pid: ready.guardian.pid,
    ready,
    exited: started.exited,
    openGate: () => {
      opened ??= abandoned === undefined ? release(started) : Promise.reject(notReleased('abandoned'));
      return opened;
    },
    abandon: () => {
      abandoned ??= opened === undefined ? dismiss(started) : started.exited;
      return abandoned;
    },
    acknowledgeOutput: () => {
      if (acknowledged || opened === undefined) return;
      acknowledged = true;
      acknowledge(started);
    },
    unref: () => {
      started.child.unref();
      started.link.unref();
    },
  };
}
