import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { encodeFrame } from '../../pty/launch/frame.ts';
import { reserveSlots } from '../../pty/launch/slots.ts';
import { guardian, wrapped } from './support/programs.ts';
import { exists, workDirectory } from './support/scope.ts';

let ran: string;
let good: string[];

/** The strings of a valid frame. */
beforeEach(async () => {
  const directory = workDirectory();
  ran = join(directory, 'ran');
  const scopeDir = join(directory, 'scope');
  const frame = encodeFrame({
    scopeId: 'S1',
    scopeDir,
    installationId: 'I1',
    slots: await reserveSlots(scopeDir),
    argv: ['touch', ran],
    env: {},
    cwd: '/',
    umask: 0o22,
    handshakeMs: 5000,
  });
  good = frame.subarray(4).toString().slice(0, -1).split('\0');
});

function framed(body: Buffer | string, length?: number): Buffer {
  const bytes = Buffer.from(body);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(length ?? bytes.length);
  return Buffer.concat([head, bytes]);
}

/** Sends bytes and the gate byte, ends the link, and returns the exit code and the one line that came back. */
async function answerTo(bytes: Buffer): Promise<{ code: number; line: string }> {
  const child = spawn(guardian(), ['run'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const link = child.stdio[3] as Socket;
  let line = '';
  link.on('data', (chunk) => {
    line += chunk;
  });
  link.on('error', () => undefined);
  link.end(bytes);
  const [code] = await once(child, 'close');
  return { code, line };
}

const without = (key: string) => good.filter((line) => !line.startsWith(`${key}=`));
const changed = (key: string, value: string) => [...without(key), `${key}=${value}`];
const text = (lines: string[]) => `${lines.join('\0')}\0`;

describe('a malformed request is refused with 64 and one line that names the field', () => {
  it.each([
    'protocol',
    'scope',
    'installation',
    'dir',
    'cwd',
    'umask',
    'handshakeMs',
    'nonceStart',
    'nonceStatus',
    'nonceExit',
    'slotStart',
    'slotStatus',
    'slotExit',
    'slotAdopted',
    'arg',
  ])('without %s', async (key) => {
    const { code, line } = await answerTo(framed(text(without(key))));
    const named = key.replace(/^(nonce|slot).*/, '$1');
    expect([code, JSON.parse(line)]).toEqual([64, { event: 'refused', step: named, errno: 22, exit: 64 }]);
  });

  it.each([
    ['protocol', '2'],
    ['scope', 'a"b'],
    ['scope', ''],
    ['scope', 'x'.repeat(65)],
    ['installation', '../x'],
    ['dir', 'relative'],
    ['cwd', ''],
    ['umask', '0o22'],
    ['umask', '1000'],
    ['umask', '8'],
    ['handshakeMs', '-1'],
    ['handshakeMs', '1e3'],
    ['handshakeMs', '99999999999999999999999'],
    ['nonceStart', 'ABCDEF0123456789ABCDEF0123456789'],
    ['nonceExit', '0123'],
    ['slotStart', '12'],
    ['slotExit', '1:2:3'],
    ['slotStatus', ':'],
    ['knownGuardian', 'abc'],
    ['terminal', '0'],
    ['terminal', 'yes'],
    ['terminal', '1'],
    ['marker', '0123'],
    ['marker', '0123456789abcdef0123456789abcdef'],
    ['lingerMs', '-1'],
    ['unknownKey', '1'],
  ])('with %s=%s', async (key, value) => {
    const { code, line } = await answerTo(framed(text(changed(key, value))));
    expect([code, JSON.parse(line).exit]).toEqual([64, 64]);
    expect(exists(ran)).toBe(false);
  });

  it.each([
    ['nothing', () => Buffer.alloc(0)],
    ['half a length', () => Buffer.from([1, 0])],
    ['length 0', () => framed('', 0)],
    ['more than 8 MiB', () => framed('', 8 * 1024 * 1024 + 1)],
    ['less than announced', () => framed(text(good), 100_000)],
    ['no final NUL', () => framed(`${text(good)}x`)],
    ['a string without =', () => framed(`${text(good)}word\0`)],
    ['an empty string', () => framed(`${text(good)}\0`)],
  ])('with %s', async (_name, bytes) => {
    const { code, line } = await answerTo(bytes());
    expect([code, JSON.parse(line).event]).toEqual([64, 'refused']);
    expect(exists(ran)).toBe(false);
  });

  it('and without a link at all', async () => {
    const [code] = await once(spawn(guardian(), ['run'], { stdio: 'ignore' }), 'exit');
    expect(code).toBe(64);
  });

  it('never repeats a value', async () => {
    const { line } = await answerTo(framed(text(changed('umask', 'canary'))));
    expect(line).not.toContain('canary');
  });
});

describe('the byte behind the request', () => {
  const behind = (byte: string) => answerTo(Buffer.concat([framed(text(good)), Buffer.from(byte)]));

  it.each(['x', 'g', '\0', '\n', 'xG'])('%j does not open the gate', async (byte) => {
    const { code, line } = await behind(byte);
    const said = line
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one));
    expect(said).toMatchObject([{ event: 'ready' }, { event: 'notReleased', reason: 'wrongByte' }]);
    expect([code, exists(ran)]).toEqual([0, false]);
  });

  it('G does, even if the launcher has gone by then', async () => {
    const { code } = await behind('G');
    expect([code, exists(ran)]).toEqual([0, true]);
  });

  it('nothing, and the end of the link, does not', async () => {
    const { code, line } = await behind('');
    expect(JSON.parse(line.trim().split('\n')[1]!)).toEqual({ event: 'notReleased', reason: 'linkEnded' });
    expect([code, exists(ran)]).toEqual([0, false]);
  });
});

describe('the last word', () => {
  it('of a guardian that refuses early is heard although our request comes later', async () => {
    const guardianPath = wrapped(workDirectory(), ['deny', 'signalfd']);
    const child = spawn(guardianPath, ['run'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
    const link = child.stdio[3] as Socket;
    // Nothing of ours runs until the guardian has said its word and waits, or has gone.
    const waits = `until grep -q '(custody-guardia) [SZ]' /proc/${child.pid}/stat; do :; done`;
    execFileSync('sh', ['-c', waits]);
    let heard = '';
    link.on('data', (chunk) => {
      heard += chunk;
    });
    const failures: Error[] = [];
    link.on('error', (error) => failures.push(error));
    link.write(framed(text(good)));
    const [code] = await once(child, 'close');
    expect([code, failures]).toEqual([125, []]);
    expect(JSON.parse(heard)).toMatchObject({ event: 'refused', step: 'signalfd' });
  });
});

describe('a large request', () => {
  it('close to the bound is taken', async () => {
    const lines = [...good, ...Array.from({ length: 60 }, (_, at) => `env=V${at}=${'x'.repeat(100_000)}`)];
    const { code } = await answerTo(framed(text(lines)));
    expect(code).toBe(0); // the link ends before the gate byte: abandoned, with receipts
    expect(exists(ran)).toBe(false);
  });
});
