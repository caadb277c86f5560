/** The Stately inspection protocol, with the client that its package ships, against a real daemon. */
import { createWebSocketInspector, createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createActor, createMachine } from 'xstate';
import { testDaemon } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { ask, openPage } from './support/page.ts';

/** The shipped receiver; everything that it was told. */
function receiver(server: string) {
  const told: StatelyInspectionEvent[] = [];
  createWebSocketReceiver({ server }).subscribe((event) => void told.push(event));
  const until = (what: string, matches: (event: StatelyInspectionEvent) => boolean) =>
    eventually(what, () => told.find(matches));
  return { told, until };
}

/** Status of the answer to a handshake; 101 where it was taken. */
function handshake(url: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers });
    socket.once('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.once('unexpected-response', (_request, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    socket.once('error', reject);
  });
}

describe('the inspection protocol', () => {
  it('tells of the actors that are there, of new ones, of events and of snapshots', async () => {
    const daemon = await testDaemon().start();
    const { goalId, generationId } = await daemon.goal();
    const { inspectionUrl } = await openPage(daemon);
    const { told, until } = receiver(inspectionUrl);
    const known = await until('the goal', ({ sessionId }) => sessionId === `goal/${goalId}`);
    if (known.type !== '@xstate.actor') throw new Error(known.type);
    expect(known).toMatchObject({
      name: `goal ${goalId}`,
      snapshot: { status: 'active', context: { title: 'a goal' } },
    });
    expect(createMachine(JSON.parse(known.definition ?? ''))).toMatchObject({ id: 'goal' });
    const { runId } = await daemon.exec(goalId, 'exit 0');
    const bound = await until(
      'its binding',
      (event) => event.type === '@xstate.event' && event.event.type === 'identity.bound',
    );
    expect(bound).toMatchObject({ sessionId: `run/${runId}` });
    const ended = await until(
      'its end',
      (event) =>
        event.type === '@xstate.snapshot' &&
        event.sessionId === `run/${runId}` &&
        (event.snapshot as { status?: string }).status === 'done',
    );
    expect(ended).toMatchObject({ snapshot: { value: { lifecycle: 'ended' } } });
    const ofRun = told.filter(({ sessionId }) => sessionId === `run/${runId}`).map(({ type }) => type);
    expect(ofRun.slice(0, 3)).toEqual(['@xstate.actor', '@xstate.event', '@xstate.snapshot']);
    const relayed = told.find(
      (event) =>
        event.type === '@xstate.event' &&
        event.sessionId === `worktreeGeneration/${generationId}` &&
        event.event.type === 'run.settled',
    );
    expect(relayed).toMatchObject({ sourceId: `run/${runId}` });
    expect(told.every(({ _version, createdAt }) => /^0\.7\./.test(_version) && Number(createdAt) > 0)).toBe(true);
  });

  it('lets programs in with the token, and pages only of origins that were allowed', async () => {
    const daemon = await testDaemon().start();
    const page = await openPage(daemon, { allowOrigins: ['https://stately.ai'] });
    const url = page.inspectionUrl;
    expect(await handshake(url)).toBe(101);
    expect(await handshake(url, { origin: page.origin })).toBe(101);
    expect(await handshake(url, { origin: 'https://stately.ai' })).toBe(101);
    expect(await handshake(url, { origin: 'https://evil.example' })).toBe(403);
    expect(await handshake(url, { origin: 'null' })).toBe(403);
    expect(await handshake(url, { host: `localhost:${page.port}` })).toBe(403);
    expect(await handshake(url.replace(/token=.*/, ''))).toBe(401);
    expect(await handshake(url.replace(/token=.*/, `token=${page.token}`))).toBe(401);
    expect(await handshake(url.replace('/inspect', '/api/updates'))).toBe(404);
    const other = await openPage(daemon);
    expect(await handshake(other.inspectionUrl, { origin: 'https://stately.ai' })).toBe(403);
    // What reads the protocol opens no page.
    const token = new URL(url).searchParams.get('token')!;
    const answer = await ask(page.port, '/api/fleet', { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(401);
  });

  it('passes on what an inspector of other actors says, and nothing about its own', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const { inspectionUrl } = await openPage(daemon);
    const { told, until } = receiver(inspectionUrl);
    await until('the goal', ({ sessionId }) => sessionId === `goal/${goalId}`);
    const inspector = createWebSocketInspector({ url: inspectionUrl });
    onTestFinished(() => inspector.stop());
    const lamp = createMachine({ id: 'lamp', initial: 'off', states: { off: { on: { press: 'on' } }, on: {} } });
    const actor = createActor(lamp, { inspect: inspector.inspect }).start();
    inspector.actor(`goal/${goalId}`, { status: 'error' });
    actor.send({ type: 'press' });
    const lit = await until(
      'the lamp',
      (event) => event.type === '@xstate.snapshot' && (event.snapshot as { value?: unknown }).value === 'on',
    );
    expect(lit.sessionId).toBe(actor.sessionId);
    expect(told.filter(({ sessionId }) => sessionId === `goal/${goalId}`)).toHaveLength(1);
  });
});
