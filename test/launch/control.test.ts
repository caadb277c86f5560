import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ControlClient } from '../../pty/launch/control.ts';
import { controlClient } from '../../pty/launch/control.ts';
import { holdInShell, turns } from '../guardian/support/fifo.ts';
import { inState } from '../guardian/support/processes.ts';
import type { Scope } from '../guardian/support/scope.ts';
import { makeDirectory, run, runToEnd, workDirectory } from '../guardian/support/scope.ts';
import { continueGuardian, killGuardian, stopGuardian } from '../support/guardianPair.ts';

async function held(before = ':'): Promise<{ scope: Scope; client: ControlClient; finish: () => Promise<void> }> {
  const t = turns(workDirectory());
  const scope = await run(['sh', '-c', `${before}; ${holdInShell(t)}`]);
  await t.ready();
  const finish = async () => {
    await t.release();
    await scope.launch.exited;
  };
  return { scope, client: await scope.control(), finish };
}

async function eventsOf(iterable: AsyncIterable<unknown>): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of iterable) events.push(event);
  return events;
}

describe('silence is not death', () => {
  it('what answers nonsense in the place of a guardian is a refusal of its own name', async () => {
    const directory = makeDirectory(join(workDirectory(), 'impostor'));
    const server = createServer((peer) => peer.on('error', () => {}).on('data', () => peer.write('{"members":7}\n')));
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(join(directory, 'ctl.sock'), resolve));
    const client = await controlClient(directory);
    onTestFinished(() => client.close());
    await expect(client.hello()).rejects.toMatchObject({ name: 'ControlError', code: 'control_refused' });
    await expect(client.members()).rejects.toMatchObject({ name: 'ControlError', code: 'control_refused' });
  });

  it('a stopped guardian is unresponsive, and answers when it is continued', async () => {
    const { scope } = await held();
    stopGuardian(scope.launch.pid);
    await inState(scope.launch.pid, 'T');
    const client = await controlClient(scope.directory, { timeoutMs: 100 });
    await expect(client.hello()).rejects.toMatchObject({ name: 'ControlError', code: 'unresponsive' });
    const other = await controlClient(scope.directory, { timeoutMs: 100 });
    await expect(eventsOf(other.terminate({ graceMs: 0, budgetMs: 60_000 }))).rejects.toMatchObject({
      code: 'unresponsive',
    });
    continueGuardian(scope.launch.pid);
    // The request was received all the same: it is carried out late, and says so in the receipt.
    await scope.launch.exited;
    expect(scope.receipt('exit').terminated).toBe(true);
  });

  it('a backlog that nobody empties is unresponsive', async () => {
    const { scope, finish } = await held();
    stopGuardian(scope.launch.pid);
    await inState(scope.launch.pid, 'T');
    const clients: ControlClient[] = [];
    const codes = new Set<string>();
    for (let at = 0; at < 200 && codes.size === 0; at++) {
      await controlClient(scope.directory, { timeoutMs: 200 }).then(
        (client) => clients.push(client),
        (error) => codes.add(error.code),
      );
    }
    expect([...codes]).toEqual(['unresponsive']);
    for (const client of clients) client.close();
    continueGuardian(scope.launch.pid);
    await finish();
  });

  it('nobody there is unreachable', async () => {
    const { directory } = await runToEnd(['true']);
    for (const path of [directory, join(directory, 'missing')]) {
      await expect(controlClient(path)).rejects.toMatchObject({ code: 'guardian_unreachable' });
    }
  });
});

describe('a conversation', () => {
  it('gives each question its answer, also during a drain', async () => {
    const { scope, client } = await held("trap '' TERM");
    const answers = await Promise.all([client.members(), client.hello(), client.members(), client.hello()]);
    expect(answers.map((answer) => Object.keys(answer)[0])).toEqual(['members', 'protocol', 'members', 'protocol']);
    const drain = client.terminate({ graceMs: 60_000, budgetMs: 60_000 })[Symbol.asyncIterator]();
    const [first, hello] = await Promise.all([drain.next(), client.hello()]);
    expect([first.value.event, hello.terminating]).toEqual(['accepted', true]);
    const impatient = await scope.control();
    await eventsOf(impatient.terminate({ graceMs: 0, budgetMs: 60_000 }));
    const rest = [];
    for (let next = await drain.next(); !next.done; next = await drain.next()) rest.push(next.value.event);
    expect(rest).toEqual(['quiesced', 'signalled', 'settled']);
  });

  it('ends with its guardian', async () => {
    const { scope, client } = await held("trap '' TERM");
    const drain = client.terminate({ graceMs: 60_000, budgetMs: 60_000 })[Symbol.asyncIterator]();
    expect((await drain.next()).value).toEqual({ event: 'accepted', already: false });
    killGuardian(scope.launch.pid);
    await expect(drain.next()).rejects.toMatchObject({ code: 'control_closed' });
    await expect(client.hello()).rejects.toMatchObject({ code: 'control_closed' });
    process.kill(scope.launch.ready.workload.pid, 'SIGKILL');
  });

  it.each([
    ['an error', '{"error":"badRequest"}\n', 'control_refused'],
    ['the end', '', 'control_closed'],
  ])('that is answered with %s', async (_name, answer, code) => {
    const directory = makeDirectory(join(workDirectory(), 'é'.repeat(80)));
    const server = createServer((socket) => socket.once('data', () => socket.end(answer)));
    process.chdir(directory);
    onTestFinished(() => process.chdir('/'));
    await new Promise<void>((resolve) => server.listen('ctl.sock', resolve));
    onTestFinished(() => void server.close());
    const client = await controlClient(directory);
    await expect(client.hello()).rejects.toMatchObject({ code });
  });
});
