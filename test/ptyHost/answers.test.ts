/** What a program asks about its terminal is answered once: by a viewer's terminal that is shown the question, else here. */
import { describe, expect, it } from 'vitest';
import { type Peer, ptyHost, type TestHost } from './support/host.ts';

/**
 * Says much, then asks where the cursor is (DSR in ctlseqs of xterm), which is known only when all of it has been rendered;
 * and says what it was answered, and whether anything came after that.
 */
const asks = `stty raw -echo; read -rn1 begin
for line in {1..60000}; do echo "$line of what has to be rendered before: 0123456789 0123456789 0123456789 0123456789"; done
printf '\\033[1;5H\\033[6n'; read -rsd R answer; printf ' answered %q' "$answer"; read -rsn1 more; printf ' more %q' "$more"`;
const question = '\x1b[6n';
const answered = `answered $'\\E[1;5'`;

interface Asking {
  readonly host: TestHost;
  readonly daemon: Peer;
  readonly watching: Peer;
  readonly sessionId: string;
}

/** `first` is done before the program begins. */
async function asking(first: (asking: Asking) => Promise<void> = async () => {}): Promise<Asking> {
  const host = await ptyHost();
  const daemon = await host.daemon();
  const { id: sessionId } = await host.open(daemon, ['bash', '-c', asks]);
  const watching = await host.viewer();
  await watching.ask({ do: 'attach', sessionId, mode: 'every byte', readOnly: true, from: 0 });
  const asking = { host, daemon, watching, sessionId };
  await first(asking);
  await send(daemon, sessionId, 'b');
  return asking;
}

const send = (daemon: Peer, sessionId: string, keys: string) =>
  daemon.ask({ do: 'send', sessionId, bytes: Buffer.from(keys).toString('base64'), paste: 'never', enter: false });

describe('a question that is on the way to the rendering', () => {
  it.each([
    ['somebody who only watches', { mode: 'every byte', readOnly: true }],
    ['somebody who is shown the screen', { mode: 'screen', readOnly: false }],
    ['somebody who is shown what comes from now on', { mode: 'every byte', readOnly: false }],
  ] as const)('is answered when %s comes', async (_, attach) => {
    const { host, daemon, watching, sessionId } = await asking();
    const coming = await host.viewer();
    await watching.shows(question);
    await coming.ask({ do: 'attach', sessionId, ...attach });
    await watching.shows(answered);
    await send(daemon, sessionId, 'x');
    await watching.shows(' more x');
  });
});

it('is answered when a viewer is shown the screen instead, having fallen behind', async () => {
  let slow: Peer | undefined;
  const { daemon, watching, sessionId } = await asking(async (asking) => {
    slow = await asking.host.viewer();
    await slow.ask({ do: 'attach', sessionId: asking.sessionId, mode: 'screen', readOnly: false });
    await slow.event('screen');
    slow.client.pause();
  });
  await watching.shows(question);
  // All of it has been rendered by now, and the question left to a viewer who has not seen it.
  await daemon.ask({ do: 'screen', sessionId });
  expect(watching.output.includes('answered')).toBe(false);
  slow!.client.resume();
  await slow!.event('gap');
  await watching.shows(answered);
});

it('is left to the terminal of a viewer to whom it is shown', async () => {
  const { host, daemon, watching, sessionId } = await asking();
  const coming = await host.viewer();
  await coming.ask({ do: 'attach', sessionId, mode: 'every byte', readOnly: false });
  await coming.shows(question);
  await daemon.ask({ do: 'screen', sessionId });
  coming.client.type(Buffer.from('\x1b[7;7R'));
  await watching.shows(`answered $'\\E[7;7'`);
  expect(watching.output.includes('more')).toBe(false);
});
