import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { placesOf } from '../../actors/runtime/places.ts';
import { withdrawn } from '../../cli/withdrawal.ts';

const dir = mkdtempSync(join(tmpdir(), 'custody-withdrawal-'));
afterAll(() => rmSync(dir, { recursive: true }));
const places = placesOf({ stateDir: dir, env: {} });
const { rendezvousFile } = places;
mkdirSync(places.runDir);
const announce = (startNumber: number) => {
  const rendezvous = { protocol: 1, pid: 1, socket: '/s', version: '0', startNumber, stateDir: dir };
  writeFileSync(rendezvousFile, JSON.stringify(rendezvous));
};

describe('a daemon that was told to leave', () => {
  it.each<[string, () => void]>([
    ['withdraws', () => rmSync(rendezvousFile)],
    ['is replaced', () => announce(8)],
  ])('is waited for until it %s', async (_, change) => {
    announce(7);
    const order: string[] = [];
    const waiting = withdrawn(places, 7).then(() => order.push('gone'));
    // Several turns of the loop, so that a wait that is none would have ended.
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    order.push('changed');
    change();
    await waiting;
    expect(order).toEqual(['changed', 'gone']);
  });

  it('that has announced nothing is gone', async () => {
    await withdrawn(placesOf({ stateDir: join(dir, 'none'), env: {} }), 7);
  });
});
