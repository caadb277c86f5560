/** Inputs with an id: typed once, remembered within a bound, and told to whoever is the daemon now (STOP-08). */
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { InputError } from '../../pty/host/inputQueue.ts';
import { RememberedInputs } from '../../pty/host/rememberedInputs.ts';
import { HostClient } from '../../pty/wire/hostClient.ts';
import { inputDigest } from '../../pty/wire/inputDigest.ts';
import { workDirectory } from '../guardian/support/scope.ts';
import { answeringHost } from './support/answeringHost.ts';
import { ptyHost, storedIn } from './support/host.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const line = (sessionId: string, text: string, inputId: string) =>
  ({ do: 'send', sessionId, bytes: base64(text), paste: 'never', enter: true, inputId }) as const;

describe('an input that is sent again under its id', () => {
  it('is typed once, by this daemon and the next, and another input under that id is refused', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const { id, transcriptDir } = await host.open(daemon, ['sh', '-c', 'stty -echo; echo ready; exec cat']);
    await daemon.until(() => storedIn(transcriptDir).includes('ready'));
    const request = line(id, 'one', 'i1');
    const sent = { bytes: 4, bracketed: false };
    expect(await Promise.all([daemon.ask(request), daemon.ask(request)])).toEqual([
      { ...sent, isRepeated: false },
      { ...sent, isRepeated: true },
    ]);
    expect(await daemon.event('typed')).toMatchObject({ inputId: 'i1', bytes: 4 });
    const next = await host.daemon();
    expect(await next.ask(request)).toEqual({ ...sent, isRepeated: true });
    await expect(next.ask(line(id, 'two', 'i1'))).rejects.toMatchObject({ code: 'input_id_reused' });
    await next.ask(line(id, 'two', 'i2'));
    expect(await next.ask({ do: 'inputs', sessionId: id })).toEqual({
      inputs: [
        { inputId: 'i1', ...sent, digest: inputDigest(request) },
        { inputId: 'i2', ...sent, digest: inputDigest(line(id, 'two', 'i2')) },
      ],
    });
    await next.until(() => storedIn(transcriptDir).includes('two'));
    expect(storedIn(transcriptDir).toString().split('one')).toHaveLength(2);
    const viewer = await host.viewer();
    await expect(viewer.ask(line(id, 'three', 'i3'))).rejects.toMatchObject({ code: 'not_the_daemon' });
    await expect(viewer.ask({ do: 'inputs', sessionId: id })).rejects.toMatchObject({ code: 'not_the_daemon' });
  });

  it('that a program has not read yet waits with the first, and is told to the daemon that is there then', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const program = 'stty raw -echo; echo ready; read go < go; exec head -c 100001 > /dev/null';
    const { id, transcriptDir } = await host.open(daemon, ['sh', '-c', `mkfifo go; ${program}`]);
    await daemon.until(() => storedIn(transcriptDir).includes('ready'));
    const long = line(id, 'x'.repeat(100_000), 'long');
    daemon.ask(long).catch(() => {});
    await daemon.ask({ do: 'list' });
    daemon.client.close();
    const next = await host.daemon();
    expect(await next.ask({ do: 'inputs', sessionId: id })).toEqual({ inputs: [] });
    const again = next.ask(long);
    const opener = await host.open(next, ['sh', '-c', 'echo go > go']);
    expect(await again).toMatchObject({ bytes: 100_001, isRepeated: true });
    expect(await next.event('typed')).toMatchObject({ sessionId: id, inputId: 'long', bytes: 100_001 });
    await next.event('captureEnded', opener.id);
    // The program ends when it has read every byte; a second copy would be left over.
    expect((await next.event('captureEnded', id)).end).toMatchObject({ complete: true });
  });
});

describe('what is remembered', () => {
  const typed = async () => ({ bytes: 1, bracketed: false });

  it('is bounded: the oldest goes, unless it is being typed still', async () => {
    const inputs = new RememberedInputs(2);
    let finish!: (sent: { bytes: number; bracketed: boolean }) => void;
    const typing = new Promise<{ bytes: number; bracketed: boolean }>((resolve) => {
      finish = resolve;
    });
    const first = inputs.once('slow', 'd', () => typing);
    for (const id of ['a', 'b', 'c']) await inputs.once(id, 'd', typed);
    expect(inputs.all.map(({ inputId }) => inputId)).toEqual(['c']);
    const second = inputs.once('slow', 'd', typed);
    finish({ bytes: 9, bracketed: false });
    expect([await first, await second]).toMatchObject([
      { bytes: 9, isRepeated: false },
      { bytes: 9, isRepeated: true },
    ]);
  });

  it('is no input of which nothing was written', async () => {
    const inputs = new RememberedInputs();
    const full = async (): Promise<never> => {
      throw new InputError('input_full', 'full');
    };
    await expect(inputs.once('a', 'd', full)).rejects.toMatchObject({ code: 'input_full' });
    expect(await inputs.once('a', 'd', typed)).toMatchObject({ isRepeated: false });
    const broken = async (): Promise<never> => {
      throw Object.assign(new Error('write'), { code: 'EIO' });
    };
    await expect(inputs.once('b', 'd', broken)).rejects.toMatchObject({ code: 'EIO' });
    // A part of it may be in the terminal.
    await expect(inputs.once('b', 'd', typed)).rejects.toMatchObject({ code: 'EIO' });
  });
});

it('a host of the protocol before is spoken to in its own version (ruling 21)', async () => {
  const address = join(workDirectory(), 'pty.sock');
  const asked = await answeringHost({ address, data: { protocol: 1, pid: 1, version: 'v', sessions: [] } });
  const { client } = await HostClient.connect({
    address,
    role: 'daemon',
    credential: undefined,
    event: () => {},
    ended: () => {},
  });
  onTestFinished(() => client.close());
  expect(asked[0]?.protocol).toEqual([2, 1]);
  expect(client.protocol).toBe(1);
});
