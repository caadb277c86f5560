/** Programs that write and end at once: the last words of each arrive, whoever watches (D6, linux cases 79-81). */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appeared, workDirectory } from '../guardian/support/scope.ts';
import { seeded } from '../host/support/random.ts';
import { type Peer, ptyHost, readReceipt, type TestHost } from './support/host.ts';

const rounds = process.env.CUSTODY_SOAK === '1' ? 300 : 30;
const largestBytes = 1024 * 1024;

/** Printable and without line ends, so that the line discipline changes nothing. */
function text(bytes: number): Buffer {
  const hashes: string[] = [];
  for (let part = 0; part * 64 < bytes; part++) hashes.push(createHash('sha256').update(String(part)).digest('hex'));
  return Buffer.from(hashes.join('')).subarray(0, bytes);
}

interface Watched {
  readonly peer: Peer;
  readonly isPaused: boolean;
}

async function watching(host: TestHost, sessionId: string, count: number): Promise<Watched[]> {
  const watched: Watched[] = [];
  for (let number = 0; number < count; number++) {
    const peer = await host.viewer();
    await peer.ask({ do: 'attach', sessionId, mode: 'every byte', readOnly: true, from: 0 });
    const isPaused = number === 2;
    if (isPaused) peer.client.pause();
    watched.push({ peer, isPaused });
  }
  return watched;
}

describe('the last words', () => {
  it.for([0, 1, 3])('of programs that end at once are complete with %i viewers (D6)', async (viewers, { annotate }) => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const whole = text(largestBytes);
    const file = join(host.directory, 'words');
    writeFileSync(file, whole);
    const random = seeded(viewers + 1);
    for (let round = 0; round < rounds / 3; round++) {
      const bytes = Math.max(1, Math.floor(largestBytes ** (random(1_000) / 1_000)));
      const session = await host.open(daemon, ['sh', '-c', `head -c ${bytes} '${file}'; exit 3`], { release: false });
      const watched = await watching(host, session.id, viewers);
      await daemon.ask({ do: 'release', sessionId: session.id });
      const { end } = await daemon.event('captureEnded', session.id);
      expect({ bytes, end }).toEqual({ bytes, end: { eof: true, complete: true, reason: null, bytes } });
      expect(session.transcript().equals(whole.subarray(0, bytes))).toBe(true);
      expect(readReceipt(session.scopeDir, 'status')).toMatchObject({ how: 'exited', code: 3 });
      for (const { peer, isPaused } of watched) {
        if (isPaused) peer.client.resume();
        await peer.event('captureEnded');
        expect(peer.output.equals(whole.subarray(0, bytes))).toBe(true);
        peer.client.close();
      }
      await daemon.ask({ do: 'forget', sessionId: session.id });
    }
    await annotate(
      `${rounds / 3} programs with ${viewers} viewers${viewers === 3 ? ', one of them paused across the end' : ''}`,
    );
  });

  it('of what stays behind in the background are part of it (81)', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const script = 'trap "" HUP; (read line < gate; echo from behind) & echo leader; exit 0';
    const session = await host.open(daemon, ['sh', '-c', `mkfifo gate; ${script}`]);
    await daemon.until(() => session.transcript().includes('leader'));
    writeFileSync(join(host.directory, 'gate'), 'go\n');
    await daemon.event('captureEnded', session.id);
    expect(session.transcript().toString()).toBe('leader\r\nfrom behind\r\n');
  });
});

/** Tells that a sync is wanted by `wanted`, and makes it when there is `go`; both lie beside it. */
const slowDisk = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const here = (name) => new URL(name, import.meta.url);
const { fdatasync } = fs;
fs.fdatasync = (...args) => {
  fs.writeFileSync(here('wanted'), '');
  const look = () => (fs.existsSync(here('go')) ? fdatasync(...args) : setTimeout(look, 5));
  look();
};
syncBuiltinESMExports();
`;

it('the end is told when it is on the disk, and not before', async () => {
  const directory = workDirectory();
  writeFileSync(join(directory, 'slowDisk.mjs'), slowDisk);
  const host = await ptyHost({ prefix: ['env', `NODE_OPTIONS=--import=${join(directory, 'slowDisk.mjs')}`] });
  const daemon = await host.daemon();
  const { id, scopeDir } = await host.open(daemon, ['echo', 'last']);
  // The guardian has its marker acknowledged by then: the terminal is gone, the end is not told.
  await appeared(scopeDir, 'exit.json');
  await appeared(directory, 'wanted');
  // Everything else goes on meanwhile, and takes longer than an end that waits for nothing.
  const other = await host.open(daemon, ['sh', '-c', 'echo other; exec cat']);
  await daemon.until(() => other.transcript().includes('other'));
  expect(await host.report(daemon, id)).toMatchObject({ state: 'running', end: null });
  expect(daemon.events.filter(({ event }) => event === 'captureEnded')).toEqual([]);
  writeFileSync(join(directory, 'go'), '');
  expect((await daemon.event('captureEnded', id)).end).toMatchObject({ eof: true, complete: true });
});
