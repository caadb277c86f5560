/** How a workload ends, or never begins. */
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { afterSilence } from '../../../../pty/launch/silence.ts';
import { type Bench, controlOf, launchedSilently, launchedTalking, receipt, shell } from '../bench.ts';

export async function simpleExit(bench: Bench): Promise<string | null> {
  const launch = await launchedSilently(bench, shell('exit 7'));
  await launch.openGate();
  const { code } = await launch.exited;
  const status = await receipt(bench.directory, 'status');
  const exit = await receipt(bench.directory, 'exit');
  if (code !== 0 || exit === undefined) return 'there is no durable exit receipt';
  return status?.code === 7 ? null : 'the status receipt does not say how it ended';
}

/** How long a program that should not run is given to show that it does. */
const quietMs = 100;

export async function closedGate(bench: Bench): Promise<string | null> {
  const launch = await launchedSilently(bench, shell(': > ran'));
  const control = await controlOf(bench);
  if ((await control.hello()).phase !== 'gated') return 'it does not wait';
  await new Promise<void>((resolve) => afterSilence(quietMs, resolve));
  await launch.abandon();
  if (existsSync(join(bench.directory, 'ran'))) return 'it ran';
  const status = await receipt(bench.directory, 'status');
  return status?.how === 'notReleased' ? null : 'no receipt says so';
}

export async function execFailure(bench: Bench): Promise<string | null> {
  const launch = await launchedSilently(bench, [join(bench.directory, 'no-such-program')]);
  const opened = await launch.openGate();
  await launch.exited;
  const expected = constants.errno.ENOENT;
  if (!('execFailed' in opened) || opened.execFailed !== expected) return 'the launcher is not told why';
  const status = await receipt(bench.directory, 'status');
  if (status?.how !== 'execFailed' || status.errno !== expected) return 'the status receipt does not say why';
  return (await receipt(bench.directory, 'exit')) === undefined ? 'there is no exit receipt' : null;
}

/** Started through a shell that ignores SIGTERM, which survives exec, and leaves a descriptor open that nobody asked for. */
export async function carelessLauncher(bench: Bench): Promise<string | null> {
  const through = shell('trap "" TERM; exec 9</dev/null; exec "$0" "$@"');
  const leaked = 'if [ -e /proc/$$/fd/9 ]; then echo seen leaked; else echo seen nothing; fi';
  const { launch, talk } = await launchedTalking(bench, shell(`${leaked}; kill -TERM $$; exit 6`), { through });
  await launch.openGate();
  const seen = await talk.heard('seen');
  await launch.exited;
  if (seen !== 'nothing') return 'a descriptor of the launcher reaches the workload';
  const status = await receipt(bench.directory, 'status');
  return status?.signal === constants.signals.SIGTERM ? null : 'the workload is deaf to SIGTERM';
}
