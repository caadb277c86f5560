import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { controlClient } from '../../pty/launch/control.ts';
import { Conversation } from '../../pty/launch/conversation.ts';
import { makeDirectory, workDirectory } from '../guardian/support/scope.ts';

const patienceMs = 50;

/** As a process is that waits for a lock, or was stopped: nothing else gets a turn until its patience is over. */
function heldUp(): void {
  const until = performance.now() + 3 * patienceMs;
  while (performance.now() < until);
}

/** A client of a guardian whose part the test plays; what is written goes to the kernel at once. */
async function playedGuardian() {
  const directory = makeDirectory(join(workDirectory(), 'played'));
  const server = createServer();
  onTestFinished(() => void server.close());
  server.listen(join(directory, 'ctl.sock'));
  await once(server, 'listening');
  const [client, [guardian]] = await Promise.all([
    controlClient(directory, { timeoutMs: patienceMs }),
    once(server, 'connection') as Promise<[Socket]>,
  ]);
  onTestFinished(() => {
    client.close();
    guardian.destroy();
  });
  return { client, guardian };
}

const members = { members: [], total: 0, nested: [], complete: true };

describe('ruling 9: nobody is taken to be silent because we did not listen', () => {
  it('an answer that came while this process was held up is an answer', async () => {
    const { client, guardian } = await playedGuardian();
    const asking = client.members();
    guardian.write(`${JSON.stringify(members)}\n`);
    heldUp();
    expect(await asking).toEqual(members);
  });

  it('so is a message of a launch', async () => {
    const { client, guardian } = await playedGuardian();
    const conversation = new Conversation(guardian);
    const next = conversation.next(patienceMs);
    // Anything that the client says is a message at the other end, if not a proper one.
    client.members().catch(() => {});
    heldUp();
    expect(await next).toEqual({ event: 'malformed' });
  });

  it('an event of a drain is one', async () => {
    const { client, guardian } = await playedGuardian();
    const first = client.terminate({ graceMs: 0, budgetMs: 0 })[Symbol.asyncIterator]().next();
    guardian.write('{"event":"accepted","already":false}\n');
    heldUp();
    expect(await first).toMatchObject({ value: { event: 'accepted' } });
  });

  it('and who says nothing is silent', async () => {
    const { client, guardian } = await playedGuardian();
    expect(await new Conversation(guardian).next(patienceMs)).toEqual({ event: 'silent' });
    await expect(client.members()).rejects.toMatchObject({ code: 'unresponsive' });
  });
});
