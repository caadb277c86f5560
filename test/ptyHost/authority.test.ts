/** Terminals are shown to the operator, to the daemon, and to sessions that may drive others (ruling 24). */
import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { operatorCredential, sessionCredential, sessionToken } from '../../actors/runtime/credentials.ts';
import { FrameReader, messageOf } from '../../pty/wire/frames.ts';
import { workDirectory } from '../guardian/support/scope.ts';
import { Peer, ptyHost, type TestHost } from './support/host.ts';

const refused = { code: 'not_operator' };

async function connected(host: TestHost, role: 'daemon' | 'client', credential?: string): Promise<Peer> {
  const peer = await Peer.connect(host.socket, role, credential);
  onTestFinished(() => peer.client.close());
  return peer;
}

it.each(['client', 'daemon'] as const)(
  'shows nothing to a %s without the right, whether it only looks or not',
  async (role) => {
    const host = await ptyHost();
    await expect(connected(host, role)).rejects.toMatchObject(refused);
    for (const credential of [host.key, `operator ${host.key}`, operatorCredential('0'.repeat(64)), '']) {
      await expect(connected(host, role, credential)).rejects.toMatchObject(refused);
    }
    await connected(host, role, operatorCredential(host.key));
  },
);

it('lets a session look and type that may drive others, while it runs, and never take the part of the daemon', async () => {
  const host = await ptyHost();
  const daemon = await host.daemon();
  const { id } = await host.open(daemon, ['cat']);
  const shown = (session: string, grants?: Parameters<typeof sessionToken>[2]) =>
    sessionCredential(session, sessionToken(host.key, session, grants));
  const driver = await connected(host, 'client', shown(id, ['sessions']));
  await driver.ask({ do: 'attach', sessionId: id, mode: 'screen', readOnly: true });
  for (const credential of [shown(id), shown(id, ['goals']), shown('Pgone', ['sessions'])]) {
    await expect(connected(host, 'client', credential)).rejects.toMatchObject(refused);
  }
  await expect(connected(host, 'daemon', shown(id, ['sessions']))).rejects.toMatchObject(refused);
  expect(daemon.isEnded).toBe(false);
});

it('names a key that others may read instead of going by it', async () => {
  const host = await ptyHost();
  chmodSync(join(host.directory, 'operator.key'), 0o644);
  const message = expect.stringContaining('has mode 0644');
  await expect(host.viewer()).rejects.toMatchObject({ ...refused, message });
});

it('is asked in the words of the previous version as well, by whoever shows the right (ruling 21)', async () => {
  const address = join(workDirectory(), 'pty.sock');
  let said!: (hello: unknown) => void;
  const hello = new Promise((resolve) => {
    said = resolve;
  });
  const reader = new FrameReader();
  const former = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        for (const { body } of reader.push(chunk)) said(messageOf(body));
        socket.destroy();
      });
  });
  await new Promise<void>((resolve) => former.listen(address, resolve));
  onTestFinished(() => void former.close());
  await Peer.connect(address, 'client', 'operator x').catch(() => {});
  expect(await hello).toMatchObject({ do: 'hello', protocol: [2, 1], credential: 'operator x' });
});
