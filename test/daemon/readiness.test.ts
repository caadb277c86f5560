import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { placesOf } from '../../actors/runtime/places.ts';
import { testDaemon } from '../support/daemon.ts';

const signalWhenReady = fileURLToPath(new URL('fixtures/signalWhenReady.mjs', import.meta.url));

describe('ruling 21: SIGTERM', () => {
  it('in the very moment of readiness lets the daemon leave as at any other, and nothing of it stays announced', async () => {
    const daemon = testDaemon({ env: { NODE_OPTIONS: `--import=${signalWhenReady}` } });
    await daemon.start();
    expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
    expect(existsSync(placesOf({ stateDir: daemon.home.stateDir, env: {} }).rendezvousFile)).toBe(false);
  });
});
