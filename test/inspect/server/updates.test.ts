/** What is committed is told at once, also to whoever comes back, and never waits for whoever does not listen. */
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type FleetAnswer, heartbeatMs, type UpdateMessage } from '../../../inspect/server/contract.ts';
import { type TestDaemon, testDaemon } from '../../support/daemon.ts';
import { openPage } from './support/page.ts';
import { openUpdates } from './support/stream.ts';

const committed = (id: string) => (message: UpdateMessage) =>
  message.type === 'committed' && message.actors.some((row) => row.id === id);

const addGoal = (daemon: TestDaemon, title = 'a goal') =>
  daemon.call('goals.add', { title, repo: daemon.home.repo, request: 'do it\n' });

describe('updates', () => {
  it('tell of every commit with its position, of health, and that somebody is there', async () => {
    const daemon = await testDaemon().start();
    const page = await openPage(daemon, { control: true });
    const updates = await openUpdates(page);
    const { message: hello } = await updates.of('hello');
    expect(hello).toMatchObject({ control: true, heartbeatMs });
    const { goalId } = await addGoal(daemon, 'seen');
    const { message, id } = await updates.until(committed(goalId));
    if (message.type !== 'committed') throw new Error(message.type);
    expect(id).toBe(String(message.position));
    expect(message.position).toBeGreaterThan(hello.position);
    expect(message.actors.find((row) => row.id === goalId)).toMatchObject({ label: 'seen', kind: 'goal' });
    expect(message.messages.find(({ to }) => to === `goal/${goalId}`)).toMatchObject({
      type: 'goal.created',
      outcome: 'changed',
    });
    expect((await updates.of('overview')).message.overview).toMatchObject({ admission: 'open', lifecycle: 'serving' });
    await daemon.call('pause', {});
    await updates.until((one) => one.type === 'overview' && one.overview.admission === 'paused');
    const beats = updates.beats;
    await new Promise<void>((resolve) => {
      updates.response.on('data', () => updates.beats > beats && resolve());
    });
  });

  it('begin where somebody was who comes back, and say what is missing', async () => {
    const daemon = await testDaemon().start();
    const page = await openPage(daemon);
    const first = await openUpdates(page);
    await first.of('hello');
    const { goalId: before } = await addGoal(daemon);
    const { id } = await first.until(committed(before));
    first.close();
    await first.ended;
    const { goalId: meanwhile } = await addGoal(daemon);
    const again = await openUpdates(page, { 'last-event-id': id! });
    const { message } = await again.until(committed(meanwhile));
    if (message.type !== 'committed') throw new Error(message.type);
    expect(message.actors.map((row) => row.id)).toEqual([meanwhile]);
    expect(message.messages.map(({ position }) => position)).toEqual(
      Array.from({ length: message.position - Number(id) }, (_, at) => Number(id) + at + 1),
    );
    const { position } = message;
    const ahead = await openUpdates(page, { 'last-event-id': String(position + 1_000) });
    expect((await ahead.of('gap')).message).toEqual({
      type: 'gap',
      from: position + 1_000,
      position,
      reason: 'not_kept',
    });
    const upToDate = await openUpdates(page, { 'last-event-id': String(position) });
    const { goalId: next } = await addGoal(daemon);
    await upToDate.until(committed(next));
    expect(upToDate.told.map((told) => told.message.type)).not.toContain('gap');
  });

  it('cost nothing when a client opens a socket and takes nothing at all', async () => {
    const daemon = await testDaemon().start();
    const page = await openPage(daemon);
    const socket = connect(page.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.pause();
    const head = [
      'GET /api/updates HTTP/1.1',
      `Host: 127.0.0.1:${page.port}`,
      `Authorization: Bearer ${page.token}`,
      '',
      '',
    ];
    socket.write(head.join('\r\n'));
    for (let at = 0; at < 20; at += 1) await addGoal(daemon);
    expect((await page.get<FleetAnswer>('/api/fleet')).actors).toHaveLength(20);
    expect(await daemon.call('inspect.close', {})).toEqual({ closed: true });
  });
});
