/** Who may look, from where, and at what: everything that somebody else's page or program could try. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { routes } from '../../../inspect/server/contract.ts';
import { authorityOf } from '../../../inspect/server/inspector.ts';
import { testDaemon } from '../../support/daemon.ts';
import { ask, codeIn, openPage, path, redeem } from './support/page.ts';
import { openUpdates } from './support/stream.ts';

const someId = { kind: 'goal', id: 'Gnone' };
const reading = Object.entries(routes)
  .filter(([name]) => name !== 'open' && name !== 'control')
  .map(([, route]) => path(route, someId));

it('calls itself as a browser does, which names no port that goes without saying', () => {
  for (const port of [80, 81, 65_535]) expect(authorityOf(port)).toBe(new URL(`http://127.0.0.1:${port}`).host);
});

describe('the inspector', () => {
  it('lets in nobody without the token, with another one, or with a part of it', async () => {
    const daemon = await testDaemon().start();
    const page = await openPage(daemon);
    for (const address of [...reading, routes.control, '/api', '/api/', '/api/nothing']) {
      const method = address === routes.control ? 'POST' : 'GET';
      const origin = { origin: page.origin };
      for (const authorization of [undefined, 'Bearer ', `Bearer ${page.token.slice(1)}`, `Bearer x${page.token}`]) {
        const headers = { ...origin, ...(authorization === undefined ? {} : { authorization }) };
        expect(await ask(page.port, address, { method, headers }), `${address} ${authorization}`).toMatchObject({
          status: 401,
        });
      }
    }
    expect((await page.ask(routes.fleet)).status).toBe(200);
  });

  it('takes a code once, and the token that it gives stands in no address', async () => {
    const daemon = await testDaemon().start();
    const { url, tcpPort } = await daemon.call('inspect.open', {});
    expect(url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${tcpPort}/#code=[A-Za-z0-9_-]{43}$`));
    const first = await redeem(tcpPort, codeIn(url));
    expect(first.status).toBe(200);
    expect(url).not.toContain(JSON.parse(first.text).token);
    expect((await redeem(tcpPort, codeIn(url))).status).toBe(401);
    expect((await redeem(tcpPort, 'guessed')).status).toBe(401);
  });

  it('answers under its own address alone (DNS rebinding)', async () => {
    const daemon = await testDaemon().start();
    const page = await openPage(daemon);
    const { port } = page;
    for (const host of [`localhost:${port}`, `evil.example:${port}`, '127.0.0.1', `127.0.0.1:${port + 1}`]) {
      for (const address of ['/', routes.fleet, '/page.js']) {
        expect(await page.ask(address, { headers: { host } }), `${host} ${address}`).toMatchObject({ status: 403 });
      }
    }
    expect((await page.ask('/', { headers: { host: `127.0.0.1:${port}` } })).status).toBe(200);
  });

  it('answers no page of another origin, not even one on this machine', async () => {
    const daemon = await testDaemon().start();
    const page = await openPage(daemon, { control: true });
    const foreign = [
      'https://evil.example',
      'null',
      `http://localhost:${page.port}`,
      `http://127.0.0.1:${page.port + 1}`,
    ];
    for (const origin of foreign) {
      expect((await page.ask(routes.fleet, { headers: { origin } })).status).toBe(403);
      expect((await page.ask('/', { headers: { origin } })).status).toBe(403);
      expect((await page.post(routes.control, {}, { origin })).status).toBe(403);
      expect((await page.post(routes.open, { code: 'x' }, { origin })).status).toBe(403);
    }
    for (const site of ['cross-site', 'same-site']) {
      expect((await page.ask(routes.fleet, { headers: { 'sec-fetch-site': site } })).status).toBe(403);
    }
    expect((await page.ask(routes.fleet, { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200);
    // Whoever leads here from elsewhere sees the page, which shows nothing without a code.
    expect((await ask(page.port, '/', { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(200);
    const withoutOrigin = await page.ask(routes.control, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(withoutOrigin).toMatchObject({ status: 403 });
  });

  it('says with every answer what a browser may do with it', async () => {
    const daemon = await testDaemon().start();
    const page = await openPage(daemon);
    for (const address of ['/', '/page.js', routes.fleet, '/api/nothing', '/nothing']) {
      const { headers } = await page.ask(address);
      expect(headers, address).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'cross-origin-resource-policy': 'same-origin',
      });
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'; base-uri 'none'");
      expect(headers['set-cookie']).toBeUndefined();
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  it('serves the files that it has found, and no other path', async () => {
    const daemon = await testDaemon().start();
    const page = await openPage(daemon);
    expect(await page.ask('/')).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect((await page.ask('/page.js')).headers['content-type']).toBe('text/javascript; charset=utf-8');
    for (const address of [
      '/../package.json',
      '/..%2f..%2fpackage.json',
      '/%2e%2e/package.json',
      '/./../daemon.js',
      '//etc/passwd',
      '/page.js/../../daemon.js',
      '/page.js%00.html',
      '/..\\daemon.js',
      '/constructor',
    ]) {
      const answer = await page.ask(address);
      expect([400, 404], address).toContain(answer.status);
    }
  });

  it('refuses what it does not understand, and says what', async () => {
    const daemon = await testDaemon().start();
    const page = await openPage(daemon, { control: true });
    const refused = [
      ['/api/actors/wizard/G1', 400],
      [`/api/actors/goal/${'G'.repeat(65)}`, 400],
      ['/api/actors/goal/Gnone', 404],
      ['/api/actors/goal/Gnone/journal', 404],
      ['/api/actors/goal/Gnone/at?position=1', 404],
      ['/api/actors/goal/Gnone/at', 400],
      ['/api/actors/goal/Gnone/at?position=-1', 400],
      ['/api/actors/goal/Gnone/at?position=1e3', 400],
      ['/api/actors/goal/Gnone/at?position=', 400],
      ['/api/actors/goal/Gnone/at?position=99999999999999999999', 400],
      ['/api/actors/goal/Gnone/at?position=1&position=2', 400],
      ['/api/actors/goal/Gnone/journal?limit=0', 400],
      ['/api/actors/goal/Gnone/journal?limit=501', 400],
      ['/api/sequence?kind=goal', 400],
      ['/api/sequence?surprise=1', 400],
      ['/api/sequence?kind=goal&id=G1&goal=G1', 400],
      ['/api/fleet?all=1', 400],
      ['/api/charts/__proto__', 400],
      ['/api/processes/Snone', 404],
      ['/api/terminals/Pnone', 404],
      ['/api/terminals/Pnone/live', 404],
      ['/api/terminals/Pnone/recording', 404],
      ['/api/terminals/..%2f..%2f/recording', 404],
      ['/api/terminals/Pnone/screen', 400],
      ['/api/terminals/Pnone/screen?offset=0', 404],
      ['/api/goals/Gnone/timeline', 404],
      ['/api/updates?after=x', 400],
    ] as const;
    for (const [address, status] of refused) {
      const answer = await page.ask(address);
      expect(answer, address).toMatchObject({ status });
      expect(JSON.parse(answer.text).error.code, address).toBe(status === 400 ? 'invalid_arguments' : 'not_found');
    }
    expect((await page.ask(routes.updates, { headers: { 'last-event-id': 'x' } })).status).toBe(400);
    expect((await page.ask(routes.fleet, { method: 'DELETE', headers: { origin: page.origin } })).status).toBe(405);
    expect((await page.post(routes.fleet, {})).status).toBe(405);
    expect((await page.ask(routes.control)).status).toBe(405);
    expect((await page.post('/', {})).status).toBe(405);
    expect((await page.post(routes.control, { verb: 'x'.repeat(20_000) })).status).toBe(413);
    expect((await page.post(routes.control, { verb: 'daemon.stop', requestId: 'r1' })).status).toBe(400);
    expect((await page.post(routes.control, '{')).status).toBe(400);
    expect((await page.post(routes.control, {}, { 'content-type': 'text/plain' })).status).toBe(400);
    expect((await page.post(routes.control, { verb: 'run.stop', requestId: 'a b', runId: 'R1' })).status).toBe(400);
    const longest = await page.ask(`/api/fleet?${'x'.repeat(30_000)}`);
    expect([400, 431]).toContain(longest.status);
  });

  it('is opened by the operator alone', async () => {
    const daemon = await testDaemon().start();
    const { Client } = await import('../../../cli/client.ts');
    const { readRendezvous, placesOf } = await import('../../../actors/runtime/places.ts');
    const rendezvous = readRendezvous(placesOf({ stateDir: daemon.home.stateDir, env: {} }));
    const stranger = new Client(rendezvous!, () => undefined);
    for (const name of ['inspect.open', 'inspect.close'] as const) {
      expect(await stranger.call(name, {})).toMatchObject({ ok: false, error: { code: 'not_operator' } });
    }
  });

  it('says so when the port is in use, and opens on another one afterwards', async () => {
    const daemon = await testDaemon().start();
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    expect(await daemon.refusal('inspect.open', { tcpPort: port })).toMatchObject({
      code: 'port_unavailable',
      exitCode: 13,
      details: { tcpPort: port, reason: 'EADDRINUSE' },
    });
    const page = await openPage(daemon);
    expect((await page.ask('/')).status).toBe(200);
    expect(await daemon.refusal('inspect.open', { tcpPort: port })).toMatchObject({ code: 'inspector_elsewhere' });
  });

  it('is the same one for everybody who asks, and gone for all once it is closed', async () => {
    const daemon = await testDaemon().start();
    const [one, other] = await Promise.all([openPage(daemon), openPage(daemon)]);
    expect(other.port).toBe(one.port);
    expect(other.token).not.toBe(one.token);
    expect(await daemon.call('inspect.close', {})).toEqual({ closed: true });
    expect(await daemon.call('inspect.close', {})).toEqual({ closed: false });
    await expect(one.ask('/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const again = await openPage(daemon, { tcpPort: one.port });
    expect((await ask(again.port, routes.fleet, { headers: one.authorised })).status).toBe(401);
    expect((await again.ask(routes.fleet)).status).toBe(200);
  });

  it('ends with the daemon', async () => {
    const daemon = await testDaemon().start();
    const page = await openPage(daemon);
    const updates = await openUpdates(page);
    await updates.of('hello');
    await daemon.kill('SIGTERM');
    await updates.of('leaving');
    await expect(page.ask('/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
