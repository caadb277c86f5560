/** The keys that detach, and the names of keys. */
import { describe, expect, it } from 'vitest';
import { DetachScanner, parseDetachKeys } from '../../cli/attach/detachKey.ts';
import { parseKey } from '../../cli/attach/keyNames.ts';

/** What goes on to the program, chunk by chunk, and whether the last chunk detached. */
function typed(spec: string, ...chunks: string[]): { readonly sent: string; readonly isDetached: boolean } {
  const scanner = new DetachScanner(parseDetachKeys(spec));
  let sent = '';
  for (const chunk of chunks) {
    const { forward, isDetached } = scanner.push(Buffer.from(chunk, 'latin1'));
    sent += forward.toString('latin1');
    if (isDetached) return { sent, isDetached };
  }
  return { sent, isDetached: false };
}

describe('the detach keys', () => {
  it.each([
    ['ctrl-] d', ['ls\r\x1dd'], { sent: 'ls\r', isDetached: true }],
    ['ctrl-] d', ['ls\x1d', 'd'], { sent: 'ls', isDetached: true }],
    ['ctrl-] d', ['\x1d\x1d', 'd'], { sent: '\x1dd', isDetached: false }],
    ['ctrl-] d', ['\x1d', '\x1d', '\x1d', 'd'], { sent: '\x1d', isDetached: true }],
    ['ctrl-] d', ['\x1dx'], { sent: '\x1dx', isDetached: false }],
    ['ctrl-] d', ['\x1d'], { sent: '', isDetached: false }],
    ['ctrl-] d', ['d'], { sent: 'd', isDetached: false }],
    ['ctrl-] d', ['\xf0\x9f\x99\x82\x1dd'], { sent: '\xf0\x9f\x99\x82', isDetached: true }],
    ['^p,^q', ['a\x10\x11'], { sent: 'a', isDetached: true }],
    ['ctrl-p ctrl-q', ['a\x10b\x10\x11'], { sent: 'a\x10b', isDetached: true }],
    ['ctrl-\\', ['a\x1c'], { sent: 'a', isDetached: true }],
    ['~ .', ['~.'], { sent: '', isDetached: true }],
    ['ctrl-a b c', ['\x01bx\x01bc'], { sent: '\x01bx', isDetached: true }],
    ['none', ['\x1dd'], { sent: '\x1dd', isDetached: false }],
  ])('%s in %j', (spec, chunks, result) => {
    expect(typed(spec, ...chunks)).toEqual(result);
  });

  it.each([
    ['kitty, disambiguating', ['\x1b[93;5u', 'd'], { sent: '', isDetached: true }],
    [
      'kitty, every key with its release',
      ['\x1b[57442;5u\x1b[93;5u', '\x1b[93;5:3u\x1b[57442;5:3u', '\x1b[100u'],
      { sent: '\x1b[57442;5u', isDetached: true },
    ],
    ['kitty, with num lock on', ['\x1b[93;133u\x1b[100;129u'], { sent: '', isDetached: true }],
    ['modifyOtherKeys', ['\x1b[27;5;93~', 'd'], { sent: '', isDetached: true }],
    ['another modifier', ['\x1b[93;7u', 'd'], { sent: '\x1b[93;7ud', isDetached: false }],
    [
      'something else behind it',
      ['\x1b[93;5u', '\x1b[93;5:3u', 'x'],
      { sent: '\x1b[93;5u\x1b[93;5:3ux', isDetached: false },
    ],
    ['an arrow key', ['\x1b[A\x1bOA\x1b'], { sent: '\x1b[A\x1bOA\x1b', isDetached: false }],
  ])('as a terminal says them that was told to tell keys apart: %s', (_, chunks, result) => {
    expect(typed('ctrl-] d', ...chunks)).toEqual(result);
  });

  it.each(['', ' ', 'ctrl-', 'alt-x', 'up', 'ctrl-é', 'ctrl-1', 'dd'])('cannot be %j', (spec) => {
    expect(() => parseDetachKeys(spec)).toThrow(/Give keys/);
  });
});

describe('the names of keys', () => {
  it.each([
    ['enter', '\r'],
    ['Tab', '\t'],
    ['shift-tab', '\x1b[Z'],
    ['esc', '\x1b'],
    ['up', '\x1b[A'],
    ['ctrl-left', '\x1b[1;5D'],
    ['home', '\x1b[H'],
    ['pgdn', '\x1b[6~'],
    ['shift-delete', '\x1b[3;2~'],
    ['f1', '\x1bOP'],
    ['alt-f1', '\x1b[1;3P'],
    ['f12', '\x1b[24~'],
    ['ctrl-c', '\x03'],
    ['C-c', '\x03'],
    ['^[', '\x1b'],
    ['ctrl-space', '\0'],
    ['ctrl-?', '\x7f'],
    ['alt-x', '\x1bx'],
    ['alt-enter', '\x1b\r'],
    ['ctrl-alt-x', '\x1b\x18'],
    ['space', ' '],
    ['q', 'q'],
    ['é', 'é'],
  ])('%s', (name, bytes) => {
    expect(parseKey(name).bytes.toString()).toBe(bytes);
  });

  it.each(['', 'hyper-x', 'f13', 'ctrl-enter', 'ctrl-é', 'enterr', 'shift-enter'])('%j is none', (name) => {
    expect(() => parseKey(name)).toThrow(/Name a key/);
  });
});
