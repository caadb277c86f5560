/** daemon start, stop, restart, status. */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { type Command, Option } from 'commander';
import type { CallArguments } from '../../actors/daemon/api/contract.ts';
import type { CallResults } from '../../actors/daemon/api/results.ts';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { action } from '../action.ts';
import {
  daemonProgram,
  ensureServing,
  findServing,
  refusalFrom,
  type Serving,
  startedByService,
} from '../autostart.ts';
import type { Hello } from '../client.ts';
import { requireOperator } from '../credential.ts';
import { fromApi } from '../failure.ts';
import { addRequestId, example } from '../globalOptions.ts';
import { type Invocation, localAnswer } from '../invocation.ts';
import { daemonEnvironment } from '../launchEnvironment.ts';
import { requireOwn } from '../ownership.ts';
import { type DaemonState, daemonLines, stopLines } from '../print/daemon.ts';
import { unserved } from '../unserved.ts';
import { withdrawn } from '../withdrawal.ts';

interface EndOptions {
  readonly keepWork?: boolean;
  readonly via?: 'direct' | 'service';
}

export function registerDaemon(program: Command): void {
  const daemon = program.command('daemon').description('the process that holds the store and looks after the work');
  example(
    daemon
      .command('start')
      .description('start the daemon; says so if one serves already')
      .option('--foreground', 'stay attached to this terminal or service manager')
      .action(action(start)),
    'custody daemon start',
  );
  example(
    ending(daemon.command('stop').description('end all work with proof, then the daemon')).action(action(stop)),
    'custody daemon stop',
  );
  example(
    ending(daemon.command('restart').description('stop, then start again')).action(action(restart)),
    'custody daemon restart --keep-work',
  );
  example(
    daemon.command('status').description('is one serving? exit 10 if not; starts nothing').action(action(status)),
    'custody daemon status --json',
  );
}

/** What both ways of ending it take. */
const ending = (command: Command): Command =>
  addRequestId(command)
    .option('--keep-work', 'end only the daemon: the work goes on and the next daemon adopts it')
    .addOption(
      new Option('--via <who>', 'who ends the process once all is proved (default: whoever started it)').choices([
        'direct',
        'service',
      ]),
    );

const pidOnly = ({ pid }: DaemonState): string[] => [String(pid)];

const stateOf = ({ hello, rendezvous }: Serving, started: boolean): DaemonState => ({
  running: true,
  started,
  pid: hello.pid,
  version: hello.version,
  startNumber: hello.startNumber,
  stateDir: hello.stateDir,
  socket: rendezvous.socket,
});

async function start(invocation: Invocation, { foreground }: { readonly foreground?: boolean }): Promise<number> {
  requireOperator();
  requireOwn(invocation.places.stateDir);
  if (foreground) return inForeground(invocation);
  invocation.output.status('starting the daemon');
  const serving = await ensureServing(invocation.places);
  invocation.output.clearStatus();
  return invocation.output.answer(localAnswer('daemon.start', stateOf(serving, serving.started)), daemonLines, pidOnly);
}

/** The service manager's signals reach this process; they are the daemon's, and its exit status is ours. */
async function inForeground({ places, output }: Invocation): Promise<number> {
  process.removeAllListeners('SIGINT');
  const child = spawn(process.execPath, [daemonProgram(), '--state-dir', places.stateDir, '--foreground'], {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: daemonEnvironment(process.env),
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 1)));
  });
  // Waited for below; until then a failed start must not count as one that nobody handles.
  ended.catch(() => undefined);
  const refusal = await refusalFrom(child.stdio[3] as Readable);
  if (refusal === undefined && output.json) {
    const serving = await findServing(places);
    if (serving) output.answer(localAnswer('daemon.start', stateOf(serving, true)), daemonLines, pidOnly);
  }
  const status = await ended;
  if (refusal) throw fromApi(refusal);
  return status;
}

async function stop(invocation: Invocation, options: EndOptions): Promise<number> {
  const { output } = invocation;
  const serving = await findServing(invocation.places);
  if (!serving) throw await unserved(invocation.places);
  const answer = await end(invocation, serving, { ...options, verb: 'stop' });
  return output.answer(answer, stopLines);
}

async function restart(invocation: Invocation, options: EndOptions): Promise<number> {
  requireOperator();
  requireOwn(invocation.places.stateDir);
  // A successor that would not start is no reason to end the work.
  const { loadConfig } = await import('../../actors/daemon/config.ts');
  loadConfig(invocation.places, daemonEnvironment(process.env));
  const serving = await findServing(invocation.places);
  if (!serving && options.via === 'service') throw await unserved(invocation.places);
  const ended = serving ? await end(invocation, serving, { ...options, verb: 'restart' }) : undefined;
  invocation.output.status('starting the daemon');
  const successor = ended?.data.isLeftToService
    ? { ...(await startedByService(invocation.places)), started: true }
    : await ensureServing(invocation.places);
  invocation.output.clearStatus();
  return invocation.output.answer(
    { ...localAnswer('daemon.restart', stateOf(successor, successor.started)), warnings: ended?.warnings ?? [] },
    daemonLines,
    pidOnly,
  );
}

/** Stops the daemon and returns once it is gone, so that what follows never meets the one that leaves. */
async function end(
  invocation: Invocation,
  { client, hello }: Serving,
  { keepWork = false, via, verb }: EndOptions & { readonly verb: 'stop' | 'restart' },
) {
  const { output, requestId } = invocation;
  output.status(keepWork ? 'stopping the daemon' : 'draining; the daemon ends when everything is proved');
  const request: CallArguments<'daemon.stop'> = { keepWork, requestId, ...wayOut(hello, { verb, via }) };
  const reply = await client.watchedCall<CallResults['daemon.stop']>(
    'daemon.stop',
    request as { readonly requestId: string },
  );
  if (!reply.ok) throw fromApi(reply.error);
  await withdrawn(invocation.places, hello.startNumber);
  output.clearStatus();
  return { ...reply, data: { ...asBefore, ...reply.data } };
}

/** What a daemon that does not say it means by its answer. */
const asBefore = { unverified: [], via: 'direct', isLeftToService: false } as const;

/** A daemon of an earlier version has to be replaceable, so it is asked for nothing that it does not know (ruling 21). */
function wayOut({ service, version }: Hello, way: Pick<CallArguments<'daemon.stop'>, 'verb' | 'via'>): typeof way {
  if (service !== undefined) return way;
  if (way.via !== 'service') return {};
  throw new OperatingError({
    code: 'no_service',
    message: `the daemon is of version ${version}, which knows no service manager`,
    exitCode: 8,
    next: ['custody daemon restart --keep-work'],
  });
}

async function status({ places, output }: Invocation): Promise<number> {
  const serving = await findServing(places);
  if (!serving) throw await unserved(places);
  return output.answer(localAnswer('daemon.status', stateOf(serving, false)), daemonLines, pidOnly);
}
