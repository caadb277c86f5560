/** What is worked out beside the daemon: in turn, within a time of its own each, and not for those who have left. */
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSystemClock } from '../../../actors/observe/linux/clock.ts';
import { Beside } from '../../../inspect/server/thread/beside.ts';
import { Recordings } from '../../../inspect/server/thread/recordings.ts';
import { Screens } from '../../../inspect/server/thread/screens.ts';
import { actorKinds } from '../../../machines/ids.ts';
import { FakeClock } from '../../observe/support/fakeClock.ts';
import { privateDirectory, writer } from '../../transcript/support/transcripts.ts';

const program = new URL('../../../dist/inspectThread.js', import.meta.url);

function beside(clock: ConstructorParameters<typeof Beside>[1] = createSystemClock()): Beside {
  const made = new Beside(program, clock);
  onTestFinished(() => made.close());
  return made;
}

const chart = (of: Beside, kind: (typeof actorKinds)[number], signal?: AbortSignal) =>
  of.work<'chart'>({ do: 'chart', kind }, signal);

describe('what nobody waits for any more', () => {
  it('is not begun, and keeps nobody waiting', async () => {
    const thread = beside();
    const stop = new AbortController();
    const first = chart(thread, 'goal', stop.signal);
    const waiting = actorKinds.map((kind) => chart(thread, kind, stop.signal));
    const other = chart(thread, 'run');
    stop.abort();
    for (const asked of [first, ...waiting, chart(thread, 'goal', stop.signal)])
      await expect(asked).rejects.toMatchObject({ code: 'inspector_thread_failed', message: /has left/ });
    await other;
  });

  it('is left where it stands, and gone on with from there', async () => {
    const dir = join(privateDirectory(), 'Sleft');
    writer({ dir }).append([Buffer.from('words')]);
    const screens = new Screens();
    onTestFinished(() => screens.close());
    expect(await screens.at(dir, { offset: 5 }, AbortSignal.abort())).toMatchObject({ offset: 0 });
    expect((await screens.at(dir, { offset: 5 }))?.lines[0]).toBe('words');
  });
});

describe('the time that something may take', () => {
  it('counts from when it is begun, and costs nobody else anything', async () => {
    const clock = new FakeClock();
    const thread = beside(clock);
    const [slow, next] = [chart(thread, 'goal'), chart(thread, 'run')];
    clock.advance(60_000);
    await expect(slow).rejects.toMatchObject({ message: /took too long/ });
    await next;
  });
});

describe('a recording whose thread was given up', () => {
  it('does not begin again in its middle', async () => {
    const dir = join(privateDirectory(), 'Slost');
    writer({ dir }).append([Buffer.from('words')]);
    const lost = new Recordings();
    await expect(lost.next({ do: 'recording', dir, reader: 1, isFirst: false })).rejects.toThrow('not known any more');
    expect(await lost.next({ do: 'recording', dir, reader: 1, isFirst: true })).toBeInstanceOf(Uint8Array);
    await lost.close(1);
  });
});
