/** custody inspect, as somebody types it. */
import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { placesOf } from '../../../actors/runtime/places.ts';
import { redirectFile } from '../../../cli/openBrowser.ts';
import { testDaemon } from '../../support/daemon.ts';
import { cliProgram } from '../../support/daemonProcess.ts';
import { codeIn, redeem } from './support/page.ts';

it('prints an address that lets in once, and closes it again', async () => {
  const daemon = await testDaemon().start();
  const { stateDir, env } = daemon.home;
  const custody = (...args: string[]) =>
    promisify(execFile)(process.execPath, [cliProgram, 'inspect', '--state-dir', stateDir, ...args], { env });
  const { data } = JSON.parse((await custody('--json', '--control')).stdout);
  expect(data).toMatchObject({ control: true, wasOpen: false, expiresMs: 120_000 });
  const opened = await redeem(data.tcpPort, codeIn(data.url));
  expect(JSON.parse(opened.text)).toMatchObject({ control: true });
  const { stdout } = await custody('--no-open');
  const [url = ''] = stdout.split('\n');
  expect(stdout).toContain(`ws://127.0.0.1:${data.tcpPort}/inspect?token=`);
  expect(JSON.parse((await redeem(data.tcpPort, codeIn(url))).text)).toMatchObject({ control: false });
  await expect(custody('--allow-origin', 'stately.ai')).rejects.toMatchObject({ code: 2 });
  await expect(custody('--port', '65536')).rejects.toMatchObject({ code: 2 });
  expect((await custody('--close')).stdout).toBe('the inspector is closed\n');
  expect((await custody('--close')).stdout).toBe('the inspector was not open\n');
});

it('hands a browser a file that nobody else can read, and no address', async () => {
  const daemon = testDaemon();
  const path = redirectFile(placesOf({ stateDir: daemon.home.stateDir, env: {} }), 'http://127.0.0.1:1/#code=a"b');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, 'utf8')).toContain('url=http://127.0.0.1:1/#code=a&quot;b"');
});
