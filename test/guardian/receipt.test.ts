import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseReceipt, receiptBytes } from '../../pty/guardian/receipt.ts';

const process = (pid: number) => ({ pid, start: '18446744073709551615', pidfs: '77' });

const binding = {
  scope: 'S0123456789',
  nonce: '0123456789abcdef0123456789abcdef',
  installation: 'I0123456789',
  boot: '69f71e87-751e-42c2-93f5-c7f9c82edc70',
  pidns: '4026531836',
  timens: '0',
  uid: 0,
  guardian: process(10),
  workload: { ...process(11), pidfs: null },
  enclosing: null as unknown,
};

const outcome = {
  how: 'exited',
  code: 7,
  signal: null as number | null,
  errno: null as number | null,
  waitStatus: 7 << 8,
};

const start = { v: 1, kind: 'start', ...binding, atNs: '1' };
const status = { v: 1, kind: 'status', ...binding, ...outcome, atNs: '2' };
const exit = {
  v: 1,
  kind: 'exit',
  claim: 'no-descendants',
  ...binding,
  ...outcome,
  proof: 'ECHILD',
  reaped: 1,
  adopted: 0,
  terminated: false,
  lostNested: 0,
  atNs: '3',
};

function bytesOf(text: string): Uint8Array {
  return Buffer.from(`${text.padEnd(receiptBytes - 1, ' ')}\n`);
}

const written = (value: unknown) => bytesOf(JSON.stringify(value));
const read = (value: unknown) => parseReceipt('exit', written(value));

describe('a receipt as the guardian writes it', () => {
  it.each([
    ['start', start],
    ['status', status],
    ['exit', exit],
  ] as const)('of kind %s is read back', (kind, value) => {
    expect(parseReceipt(kind, written(value))).toEqual({ ok: true, receipt: value });
  });

  it.each([
    ['signaled', { how: 'signaled', code: null, signal: 9, waitStatus: 9 }],
    ['dumped', { how: 'dumped', code: null, signal: 6, waitStatus: 0x86 }],
    ['execFailed', { how: 'execFailed', code: 127, errno: 2, waitStatus: 127 << 8 }],
    ['notReleased', { how: 'notReleased', code: null, waitStatus: 9 }],
    ['with an enclosing guardian', { enclosing: { scope: 'S1', guardian: process(3) } }],
  ])('%s', (_name, change) => {
    expect(read({ ...exit, ...change }).ok).toBe(true);
  });
});

describe('what is no receipt', () => {
  const good = JSON.stringify(exit);

  it.each([
    ['cut off', 'wrong_length', written(exit).subarray(0, 100)],
    ['empty', 'wrong_length', new Uint8Array()],
    ['one byte longer', 'wrong_length', Buffer.concat([written(exit), Buffer.from('\n')])],
    ['without its newline', 'not_terminated', Buffer.concat([written(exit).subarray(0, 4095), Buffer.from(' ')])],
    ['never written', 'not_terminated', new Uint8Array(receiptBytes)],
    ['half written', 'not_json', bytesOf(good.slice(0, -20))],
    ['not UTF-8', 'not_utf8', Buffer.concat([Buffer.from([0xff]), written(exit).subarray(1)])],
    ['with a byte order mark', 'not_json', Buffer.from(`\ufeff${good.padEnd(receiptBytes - 4, ' ')}\n`)],
    ['a list', 'unknown_version', bytesOf('[]')],
    ['null', 'wrong_fields', bytesOf('null')],
    ['a second value after it', 'not_json', bytesOf(`${good} {}`)],
    ['a space inside', 'not_canonical', bytesOf(good.replace('"v":1,', '"v":1, '))],
    ['a space before', 'not_canonical', bytesOf(` ${good}`)],
    ['a tab as padding', 'not_canonical', bytesOf(`${good}\t`)],
    ['a doubled key', 'not_canonical', bytesOf(good.replace('"code":7', '"code":8,"code":7'))],
    ['another order of keys', 'not_canonical', bytesOf(good.replace('"v":1,"kind":"exit",', '"kind":"exit","v":1,'))],
    ['a number in another notation', 'not_canonical', bytesOf(good.replace('"reaped":1,', '"reaped":1.0,'))],
    ['an escaped letter', 'not_canonical', bytesOf(good.replace('"exited"', '"\\u0065xited"'))],
  ])('%s: %s', (_name, reason, bytes) => {
    expect(parseReceipt('exit', bytes)).toEqual({ ok: false, reason });
  });

  it.each([
    ['v', 2, 'unknown_version'],
    ['v', '1', 'unknown_version'],
    ['kind', 'status', 'wrong_kind'],
    ['kind', 'exits', 'wrong_kind'],
    ['claim', 'no-writers', 'wrong_fields'],
    ['proof', 'none', 'wrong_fields'],
    ['scope', '../x', 'wrong_fields'],
    ['nonce', '0123', 'wrong_fields'],
    ['boot', 'x', 'wrong_fields'],
    ['pidns', 4026531836, 'wrong_fields'],
    ['timens', '01', 'wrong_fields'],
    ['uid', -1, 'wrong_fields'],
    ['guardian', { ...process(10), extra: 1 }, 'wrong_fields'],
    ['workload', { ...process(0) }, 'wrong_fields'],
    ['enclosing', {}, 'wrong_fields'],
    ['how', 'vanished', 'wrong_fields'],
    ['code', 256, 'wrong_fields'],
    ['code', '7', 'wrong_fields'],
    ['signal', 9, 'wrong_fields'],
    ['errno', 2, 'wrong_fields'],
    ['waitStatus', 8 << 8, 'wrong_fields'],
    ['reaped', 0, 'wrong_fields'],
    ['adopted', 0.5, 'wrong_fields'],
    ['terminated', 0, 'wrong_fields'],
    ['lostNested', null, 'wrong_fields'],
    ['atNs', 3, 'wrong_fields'],
    ['extra', 1, 'wrong_fields'],
  ] as const)('%s = %j: %s', (key, value, reason) => {
    expect(read({ ...exit, [key]: value })).toEqual({ ok: false, reason });
  });

  it.each(Object.keys(exit))('without %s', (key) => {
    const { [key]: _gone, ...rest } = exit as Record<string, unknown>;
    expect(read(rest).ok).toBe(false);
  });

  it.each([
    ['signaled by another signal', { how: 'signaled', code: null, signal: 9, waitStatus: 15 }],
    ['signaled without a dump that the wait status has', { how: 'signaled', code: null, signal: 6, waitStatus: 0x86 }],
    ['dumped without a dump', { how: 'dumped', code: null, signal: 6, waitStatus: 6 }],
    ['exited by a signal', { waitStatus: 9 }],
    ['execFailed without an error', { how: 'execFailed', code: 127, waitStatus: 127 << 8 }],
    ['notReleased with a code', { how: 'notReleased' }],
  ])('contradicts itself: %s', (_name, change) => {
    expect(read({ ...exit, ...change }).ok).toBe(false);
  });

  it('any other bytes, and no bytes make it throw', () => {
    const anyBytes = fc.uint8Array({ minLength: receiptBytes, maxLength: receiptBytes });
    fc.assert(fc.property(anyBytes, (bytes) => parseReceipt('exit', bytes).ok === false));
    const flipped = fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(flipped, ([at, by]) => {
        const bytes = Uint8Array.from(written(exit));
        bytes[at]! ^= by;
        const parsed = parseReceipt('exit', bytes);
        return !parsed.ok || JSON.stringify(parsed.receipt) !== good;
      }),
      { numRuns: 500 },
    );
  });
});
