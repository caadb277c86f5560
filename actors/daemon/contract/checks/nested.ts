/** A guardian inside the tree of another one, and a guardian that is lost. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlClient } from '../../../../pty/launch/control.ts';
import { Conversation } from '../../../../pty/launch/conversation.ts';
import { encodeFrame } from '../../../../pty/launch/frame.ts';
import type { Launch } from '../../../../pty/launch/launch.ts';
import { signalProcess } from '../../../../pty/launch/signal.ts';
import {
  type Bench,
  controlOf,
  frameFor,
  launchedAs,
  launchedTalking,
  receipt,
  shell,
  talkFor,
  terminated,
} from '../bench.ts';
import type { Talk } from '../talk.ts';

/** Its own end takes longer than that of the outer one would, if the outer one did not wait. */
const innerGraceMs = 300;

/** The outer termination begins while the inner tree is alive and refuses to leave when asked. */
export async function nested(bench: Bench): Promise<string | null> {
  const inner: Bench = { ...bench, directory: join(bench.directory, 'inner') };
  const { launch, talk, link } = await outer(bench);
  await launch.openGate();
  const conversation = new Conversation(link.ours);
  await mkdir(inner.directory, { mode: 0o700 });
  const frame = await frameFor(inner, shell(`trap '' TERM; echo held $$; read x; exit 5`));
  link.ours.write(encodeFrame({ ...frame, upSocketDir: bench.directory, graceMs: innerGraceMs }));
  const ready = await conversation.next(frame.handshakeMs);
  if (ready.event !== 'ready') return `the inner guardian did not start: ${ready.event}`;
  link.ours.write('G');
  const held = Number(await talk.heard('held'));
  const client = await controlOf(bench);
  const seen = await client.members();
  const events = await terminated(client);
  await launch.exited;
  if (!seen.nested.includes(ready.guardian.pid)) return 'the outer guardian does not know the inner one';
  if (seen.members.some(({ pid }) => pid === held)) return 'the outer guardian entered the tree of the inner one';
  if (!events.some(({ event }) => event === 'settled')) return 'termination did not end in an exit receipt';
  return inOrder(await receipt(inner.directory, 'exit'), await receipt(bench.directory, 'exit'));
}

type ExitReceipt = Awaited<ReturnType<typeof receipt<'exit'>>>;

function inOrder(inner: ExitReceipt, outer: ExitReceipt): string | null {
  if (inner === undefined) return 'the inner guardian left no exit receipt';
  if (outer === undefined) return 'the outer guardian left no exit receipt';
  if (inner.enclosing?.guardian.pid !== outer.guardian.pid) return 'the inner receipt does not name the outer guardian';
  if (outer.lostNested > 0) return 'the outer guardian lost the inner one';
  return BigInt(inner.atNs) <= BigInt(outer.atNs) ? null : 'the outer receipt came before the inner one was complete';
}

/** The shell of the outer workload has the link of the inner guardian as its input, and the talk as its output. */
async function outer(bench: Bench): Promise<{ launch: Launch; talk: Talk; link: Talk }> {
  const talk = await talkFor(bench);
  const link = await talkFor(bench);
  try {
    const script = 'exec 3<&0; "$0" run <&1 & exec 3<&- </dev/null; wait';
    const frame = await frameFor(bench, shell(script, bench.guardianPath));
    const stdio = [link.theirs, talk.theirs, talk.theirs] as const;
    const launch = await launchedAs(bench, { ...frame, guardianPath: bench.guardianPath, stdio });
    return { launch, talk, link };
  } finally {
    talk.handedOver();
    link.handedOver();
  }
}

/**
 * Everything of a guardian is killed while its workload runs, and then the workload ends by itself: nobody was there to
 * see that nobody is left, so there must be no receipt that says so (GRD-10).
 */
export async function lostGuardian(bench: Bench): Promise<string | null> {
  if (bench.guardianOf === undefined) return 'no process can be observed here';
  const { launch, talk } = await launchedTalking(bench, shell('echo up; read x; echo on; read x'));
  await launch.openGate();
  await talk.heard('up');
  const { guardianPath } = bench;
  const processes = bench.guardianOf(launch.ready.guardian.pid);
  if (processes.length === 0) return 'the guardian is not seen';
  // Stopped first, all of them, so that none sees another one go.
  for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
    for (const one of processes) await signalProcess({ guardianPath, ...one, signal });
  }
  await launch.exited;
  talk.say('go on');
  await talk.heard('on');
  if ((await receipt(bench.directory, 'exit')) !== undefined) return 'there is an exit receipt of a living tree';
  talk.say('end');
  await talk.ended;
  return (await receipt(bench.directory, 'exit')) === undefined
    ? null
    : 'there is an exit receipt that nobody can vouch for';
}

/** Each of its two processes is killed once while the workload runs: the other one goes on, and says how it ended. */
export async function halfGuardian(bench: Bench): Promise<string | null> {
  for (const which of ['first', 'second'] as const) {
    const failure = await withoutOne({ ...bench, directory: join(bench.directory, which) }, which === 'first' ? 0 : 1);
    if (failure !== null) return `without its ${which} process: ${failure}`;
  }
  return null;
}

async function withoutOne(bench: Bench, at: number): Promise<string | null> {
  if (bench.guardianOf === undefined) return 'no process can be observed here';
  const { launch, talk } = await launchedTalking(bench, shell('echo up; read x; exit 7'));
  await launch.openGate();
  await talk.heard('up');
  const lost = bench.guardianOf(launch.ready.guardian.pid)[at];
  if (lost === undefined) return 'there is none';
  const client = await controlOf(bench);
  await signalProcess({ guardianPath: bench.guardianPath, ...lost, signal: 'SIGKILL' });
  talk.say('end');
  await talk.ended;
  await silent(client);
  const status = await receipt(bench.directory, 'status');
  if ((await receipt(bench.directory, 'exit')) === undefined) return 'there is no exit receipt';
  return status?.code === 7 ? null : 'the status receipt does not say how it ended';
}

/** Nobody answers any more: whoever has ended has left everything that it leaves. */
async function silent(client: ControlClient): Promise<void> {
  for (;;) {
    const isThere = await client.hello().then(
      () => true,
      () => false,
    );
    if (!isThere) return;
  }
}

/** The pid is right and the start time is that of another process: such a signal is for somebody who is gone. */
export async function wrongIdentity(bench: Bench): Promise<string | null> {
  const script = `answer=well; trap 'answer=struck' TERM; echo up; read x; echo answer $answer; read x`;
  const { launch, talk } = await launchedTalking(bench, shell(script));
  await launch.openGate();
  await talk.heard('up');
  const { workload, uid } = launch.ready;
  const start = String(BigInt(workload.start) + 1n);
  const asked = { guardianPath: bench.guardianPath, pid: workload.pid, start, uid, signal: 'SIGTERM' } as const;
  const result = await signalProcess(asked);
  talk.say('are you well?');
  const said = await talk.heard('answer');
  talk.say('end');
  await launch.exited;
  if (result !== 'identity_differs') return `a signal for a process that is gone was ${result}`;
  return said === 'well' ? null : 'the signal arrived';
}
