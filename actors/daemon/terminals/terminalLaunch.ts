/** A launch whose guardian is started by the PTY host, in a terminal; to the coordinator it is a launch like any other. */
import { GuardianLaunchError, type LaunchErrorCode, type LaunchPhase } from '../../../pty/launch/errors.ts';
import type { Launch, LaunchReady, LaunchRequest } from '../../../pty/launch/launch.ts';
import type { HostClient } from '../../../pty/wire/hostClient.ts';
import { HostError } from '../../../pty/wire/hostError.ts';
import { launchReady } from '../../../pty/wire/messages.ts';

export interface TerminalRequest {
  readonly sessionId: string;
  readonly cols: number;
  readonly rows: number;
  readonly term: string;
  readonly transcript: { readonly dir: string; readonly maxBytes: number | null; readonly segmentBytes?: number };
  readonly launch: Omit<LaunchRequest, 'stdio'>;
}

/** What the host may take beyond the handshake: the fork, and its turn on a busy machine. */
const slackMs = 10_000;

/** Throws GuardianLaunchError; by then no process of the launch is left, unless the host itself was lost. */
export async function launchInTerminal(client: HostClient, request: TerminalRequest): Promise<Launch> {
  const { sessionId } = request;
  const { handshakeMs } = request.launch;
  const answerMs = handshakeMs + slackMs;
  const ready = await opened(client, request, answerMs);
  const never = new Promise<never>(() => {});
  let gate: ReturnType<Launch['openGate']> | undefined;
  let abandoned: ReturnType<Launch['abandon']> | undefined;
  return {
    pid: ready.guardian.pid,
    ready,
    openGate: () => {
      gate ??= client.ask({ do: 'release', sessionId }, answerMs).catch((error: unknown) => {
        throw gateFailure(error);
      }) as ReturnType<Launch['openGate']>;
      return gate;
    },
    abandon: async () => {
      abandoned ??= client.ask({ do: 'abandon', sessionId }, answerMs).then(
        () => ({ code: null, signal: null }),
        // The host closes the gate itself when the connection is gone (ruling 6).
        () => ({ code: null, signal: null }),
      );
      return abandoned;
    },
    // The host acknowledges, and reaps; how the guardian ended is in its receipts.
    acknowledgeOutput: () => {},
    exited: never,
    unref: () => {},
  };
}

async function opened(client: HostClient, request: TerminalRequest, answerMs: number): Promise<LaunchReady> {
  const { launch, ...terminal } = request;
  const { stdio: _, terminal: __, upSocketDir: ___, ...fields } = launch as LaunchRequest;
  try {
    const sent = { ...fields, argv: [...launch.argv], env: { ...launch.env } };
    return launchReady.parse(await client.ask({ do: 'open', ...terminal, launch: sent } as never, answerMs));
  } catch (error) {
    throw launchFailure(error);
  }
}

function launchFailure(error: unknown): unknown {
  if (!(error instanceof HostError)) return error;
  if (error.code !== 'launch_failed') {
    return new GuardianLaunchError({ code: 'spawn_failed', phase: 'spawn', step: error.code, cause: error });
  }
  const { code, phase, errno, step, exitCode } = error.details as {
    code: LaunchErrorCode;
    phase: LaunchPhase;
    errno: number | null;
    step: string | null;
    exitCode: number | null;
  };
  return new GuardianLaunchError({ code, phase, errno, step, exitCode, cause: error });
}

/** Whatever became of the answer, the byte may have been sent; only the host's own word says that it was not. */
function gateFailure(error: unknown): GuardianLaunchError {
  const said = error instanceof HostError && error.code === 'release_failed' ? error.details : {};
  const code = said.code === 'not_released' ? 'not_released' : 'release_uncertain';
  const step = error instanceof HostError ? error.code : 'unknown';
  return new GuardianLaunchError({ code, phase: 'gate', step, cause: error });
}
