import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig, retryPauses } from '../../actors/daemon/config.ts';
import { parameters } from '../../actors/daemon/configParameters.ts';
import { Backoff } from '../../actors/observe/streams/backoff.ts';
import { placesOf } from '../../actors/runtime/places.ts';
import { testDaemon } from '../support/daemon.ts';

function placesWithConfig() {
  const dir = mkdtempSync(join(tmpdir(), 'custody-parameters-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const places = placesOf({ stateDir: join(dir, 'state'), env: { HOME: dir } });
  mkdirSync(dirname(places.configFile), { recursive: true });
  return places;
}

const load = (env: Record<string, string>) => loadConfig(placesWithConfig(), env);
const variableOf = (name: string) => `CUSTODY_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
const numbers = Object.entries(parameters).flatMap(([name, parameter]) =>
  'minimum' in parameter ? [[name, parameter] as const] : [],
);

describe('every parameter of section 0.2 that something goes by', () => {
  it.each([
    ['handshakeMs', 5_000],
    ['drainBudgetMs', 2_000],
    ['shutdownBudgetMs', 30_000],
    ['sqliteBusyMs', 250],
    ['retryBackoffMs', 1_000],
    ['retryBackoffLongestMs', 300_000],
    ['reconcileBatch', 64],
    ['reconcileTimeMs', 200],
    ['payloadMaxBytes', 16_384],
  ])('%s is %i, and shown with where it comes from', (name, value) => {
    expect(load({}).values).toContainEqual(expect.objectContaining({ name, value, origin: 'default' }));
    const set = load({ [variableOf(name)]: String(value + 1) });
    expect(set.values).toContainEqual(expect.objectContaining({ name, value: value + 1, origin: 'environment' }));
  });

  it.each(numbers)('%s has bounds, and an error names them', (name, { minimum, maximum, unit }) => {
    const variable = variableOf(name);
    for (const value of [minimum, maximum])
      expect(load({ [variable]: String(value) }).config).toMatchObject({ [name]: value });
    const message = `at least ${minimum} and at most ${maximum}`;
    for (const value of [minimum - 1, maximum + 1, '', '1e3', '0x10', ' 5', '1.5'])
      expect(() => load({ [variable]: String(value) }), String(value)).toThrow(message);
    // A timer that is longer fires at once (Node, setTimeout), and some are several of these together.
    if (unit === 'ms') expect(3 * maximum).toBeLessThan(2 ** 31);
  });
});

it('a program is named by a text, which is not empty', () => {
  expect(load({}).config.serviceManager).toBe('systemctl');
  expect(load({ CUSTODY_SERVICE_MANAGER: '/opt/ctl' }).config.serviceManager).toBe('/opt/ctl');
  for (const value of ['', 'x'.repeat(4_097)])
    expect(() => load({ CUSTODY_SERVICE_MANAGER: value })).toThrow('a text of 1 to 4096 characters');
});

describe('a configuration file', () => {
  it('that is something else is refused by name, and nothing waits for it', () => {
    const places = placesWithConfig();
    const put: Record<string, () => void> = {
      'a directory': () => mkdirSync(places.configFile),
      'not a regular file': () => execFileSync('mkfifo', [places.configFile]),
      'larger than': () => {
        writeFileSync(places.configFile, '{}');
        truncateSync(places.configFile, 2 ** 31);
      },
      ELOOP: () => symlinkSync(places.configFile, places.configFile),
    };
    for (const [what, make] of Object.entries(put)) {
      make();
      expect(() => loadConfig(places, {})).toThrow(expect.objectContaining({ code: 'config_invalid', exitCode: 2 }));
      expect(() => loadConfig(places, {})).toThrow(what);
      rmSync(places.configFile, { recursive: true });
    }
  });

  it.each([
    ['{ "checks": { "*": ["true"] }', 'close brace expected'],
    ['{ "chekcs": {} }', 'no parameter named "chekcs"; did you mean checks or checkTimeoutMs'],
    ['{ "xyz": {} }', 'there are capacity, handshakeMs, '],
    ['{ "checks": { "*": "npm test" } }', 'such as {"*": ["npm", "test"]}'],
  ])('%s is refused with what would be right', (text, what) => {
    const places = placesWithConfig();
    writeFileSync(places.configFile, text);
    expect(() => loadConfig(places, {})).toThrow(what);
  });

  it('cannot hide a parameter behind the name __proto__', () => {
    const places = placesWithConfig();
    writeFileSync(places.configFile, '{ "__proto__": { "capacity": 3 } }');
    expect(() => loadConfig(places, {})).toThrow('no parameter named "__proto__"');
  });
});

describe('a daemon goes by them', () => {
  it('retryBackoffMs doubles up to retryBackoffLongestMs', () => {
    const env = { CUSTODY_RETRY_BACKOFF_MS: '100', CUSTODY_RETRY_BACKOFF_LONGEST_MS: '300' };
    const backoff = new Backoff(retryPauses(load(env).config));
    expect([1, 2, 3, 4].map(() => backoff.later('somebody', 0))).toEqual([100, 200, 300, 300]);
  });

  it.each([
    ['2048', false],
    ['16384', true],
  ])('payloadMaxBytes %s: whether 500 control characters are taken as a reason is %s (JRN-03)', async (bytes, ok) => {
    const daemon = await testDaemon({ env: { CUSTODY_PAYLOAD_MAX_BYTES: bytes } }).start();
    const { goalId } = await daemon.goal();
    const reply = await daemon.attempt('goals.cancel', { id: goalId, reason: '\u0001'.repeat(500) });
    expect(reply).toMatchObject(ok ? { ok } : { ok, error: { code: 'invalid_event' } });
  });

  it('sqliteBusyMs: a foreign lock is waited for that long (CONC-01)', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_SQLITE_BUSY_MS: '1500' } }).start();
    const { goalId } = await daemon.goal();
    const foreign = new Database(join(daemon.home.stateDir, 'custody.db'));
    foreign.exec('BEGIN IMMEDIATE');
    const askedAt = performance.now();
    const refusal = await daemon.refusal('goals.cancel', { id: goalId });
    expect(performance.now() - askedAt).toBeGreaterThan(1_400);
    expect(refusal).toMatchObject({ code: 'store_busy', exitCode: 10, retryable: true });
    foreign.close();
  });
});
