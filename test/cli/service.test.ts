/** The daemon as a service of its user, with a service manager that is a few lines of shell. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { unitFileOf, unitMark } from '../../actors/daemon/service/place.ts';
import { stateDirOf, unitText } from '../../cli/service/unit.ts';
import { isGone } from '../guardian/support/processes.ts';
import { type ServiceManager, serviceManager, writeUnit } from '../support/serviceManager.ts';
import { type Installation, installation, refused } from './support/installation.ts';

/**
 * Runs what the unit says, and again when it ends with the status that the unit names; a restart waits for the caller to
 * be gone, as the real one does.
 */
const manager = `unit=$(dirname "$0")/.config/systemd/user/custody.service
run() {
  eval "set -- $(sed -n 's/^ExecStart=//p' "$unit")"
  again=$(sed -n 's/^RestartForceExitStatus=//p' "$unit")
  setsid sh -c 'again=$1; shift; while :; do "$@"; [ $? -eq "$again" ] || break; done' sh "$again" "$@" </dev/null >/dev/null 2>&1 &
}
case "$2" in
  enable) run ;;
  restart) (tail --pid="$PPID" -f /dev/null; run) >/dev/null 2>&1 & ;;
  is-active) echo active ;;
  is-enabled) echo enabled ;;
esac`;

const withManager = async (
  script = manager,
): Promise<{ here: Installation; fake: ServiceManager; unitFile: string }> => {
  const made = await installation();
  const fake = serviceManager(made.dir, script);
  const env = { ...made.env, CUSTODY_SERVICE_MANAGER: fake.program };
  const here: Installation = {
    ...made,
    env,
    custody: (args, options) => made.custody(args, { env, ...options }),
    ask: (args, options) => made.ask(args, { env, ...options }),
  };
  return { here, fake, unitFile: unitFileOf({ HOME: made.dir }) };
};

describe('an installed service', () => {
  let here: Installation;
  let fake: ServiceManager;
  let unitFile: string;
  beforeAll(async () => {
    ({ here, fake, unitFile } = await withManager());
  });
  afterAll(() => here.dispose());

  const pidOf = async (): Promise<number> => (await here.ask(['daemon', 'status'])).data.pid;

  it('is a unit of ours, which is loaded, enabled and started', async () => {
    const { data } = await here.ask(['service', 'install']);
    expect(fake.calls()).toEqual([
      '--user show-environment',
      '--user daemon-reload',
      '--user enable --now custody.service',
    ]);
    expect(data).toEqual({ unitFile, state: 'ours', active: 'active', enabled: 'enabled', pid: await pidOf() });
    expect((await here.ask(['service', 'status'])).data).toEqual(data);
    expect(statSync(unitFile).mode & 0o777).toBe(0o600);
    const unit = readFileSync(unitFile, 'utf8');
    expect(unit).toContain('\nKillMode=process\nDelegate=yes\n');
    expect(unit).toContain(`\nEnvironment="CUSTODY_SERVICE_MANAGER=${fake.program}"\n`);
    expect(stateDirOf(unit)).toBe(here.stateDir);
    const [node, daemon] = [...unit.match(/^ExecStart="([^"]+)" "([^"]+)"/m)!].slice(1);
    expect([node, existsSync(daemon!)]).toEqual([process.execPath, true]);
  });

  it('passes the checks of systemd itself', () => {
    const runtime = mkdtempSync(join(tmpdir(), 'custody-verify-'));
    onTestFinished(() => rmSync(runtime, { recursive: true, force: true }));
    const env = { PATH: process.env.PATH, HOME: here.dir, XDG_RUNTIME_DIR: runtime };
    const verify = ['--user', 'verify', '--man=no', unitFile];
    const { status, stdout, stderr } = spawnSync('systemd-analyze', verify, { env, encoding: 'utf8' });
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
  });

  it('installing it again changes nothing but what has to', async () => {
    const pid = await pidOf();
    const before = readFileSync(unitFile, 'utf8');
    writeFileSync(unitFile, before.replace('KillMode=process', 'KillMode=control-group'));
    const again = manager.replace('enable) run', 'enable) :');
    serviceManager(here.dir, again);
    expect((await here.ask(['service', 'install'])).data.pid).toBe(pid);
    serviceManager(here.dir, manager);
    expect(readFileSync(unitFile, 'utf8')).toBe(before);
  });

  it('is replaced under running work without a call to the service manager (ruling 21)', async () => {
    const { goalId } = await here.goalWithWorktree();
    const { scopeId } = (await here.ask(['runs', 'exec', goalId, '--', 'sleep', '600'])).data;
    const [pid, calls] = [await pidOf(), fake.calls()];
    const after = (await here.ask(['daemon', 'restart', '--keep-work'])).data;
    expect(after.pid).not.toBe(pid);
    expect(fake.calls()).toEqual(calls);
    expect((await here.ask(['processes'])).data.scopes).toMatchObject([{ scopeId, assessment: { state: 'live' } }]);
    expect((await here.ask(['service', 'status'])).data.pid).toBe(after.pid);
  });

  it('is restarted by the service manager, once everything has ended (SHUT-05)', async () => {
    const pid = await pidOf();
    const after = (await here.ask(['daemon', 'restart'])).data;
    expect(after.pid).not.toBe(pid);
    expect(fake.calls().at(-1)).toBe('--user restart --no-block custody.service');
    expect((await here.ask(['processes'])).data.scopes).toEqual([]);
    expect((await here.ask(['service', 'status'])).data.pid).toBe(after.pid);
  });

  it('is uninstalled without being stopped, and stopped afterwards as it was started', async () => {
    const pid = await pidOf();
    expect((await here.ask(['service', 'uninstall'])).data).toMatchObject({ state: 'none', pid });
    expect(fake.calls()).toEqual(expect.arrayContaining(['--user disable custody.service', '--user daemon-reload']));
    expect(existsSync(unitFile)).toBe(false);
    expect((await here.ask(['service', 'uninstall'])).data).toMatchObject({ state: 'none', pid });
    expect((await here.ask(['daemon', 'stop'])).data).toMatchObject({ via: 'service' });
    await isGone(pid);
    expect(fake.calls().at(-1)).toBe('--user stop --no-block custody.service');
  });
});

describe('service install refuses', () => {
  it('a unit file that it has not written, and leaves it as it is', async () => {
    const { here, fake, unitFile } = await withManager();
    onTestFinished(() => here.dispose());
    writeUnit(here.dir, '[Service]\nExecStart=/usr/bin/true\n');
    for (const verb of ['install', 'uninstall'])
      expect(refused(await here.custody(['service', verb, '--json']))).toMatchObject({
        code: 'unit_foreign',
        exitCode: 11,
        next: [`move ${unitFile} away`],
      });
    expect(readFileSync(unitFile, 'utf8')).toBe('[Service]\nExecStart=/usr/bin/true\n');
    expect((await here.ask(['service', 'status'])).data).toMatchObject({ state: 'foreign', pid: null });
    writeUnit(here.dir, `${unitMark}\n# State directory: /elsewhere\n`);
    expect(refused(await here.custody(['service', 'install', '--json'])).next).toEqual([
      'custody --state-dir /elsewhere service uninstall',
    ]);
    expect(fake.calls().filter((call) => !call.includes(' is-'))).toEqual([]);
  });

  it('where there is no service manager, leaves nothing behind, and says what to do without (exit 8)', async () => {
    const { here, unitFile } = await withManager('echo "Failed to connect to bus: No medium found" >&2; exit 1');
    onTestFinished(() => here.dispose());
    const env = { ...here.env, CUSTODY_SERVICE_MANAGER: join(here.dir, 'nothing') };
    for (const [options, why] of [
      [{}, 'Failed to connect to bus: No medium found'],
      [{ env }, `${env.CUSTODY_SERVICE_MANAGER} is not there`],
    ] as const) {
      const refusal = refused(await here.custody(['service', 'install', '--json'], options));
      expect(refusal).toMatchObject({ code: 'no_service', exitCode: 8, message: expect.stringContaining(why) });
      expect(refusal.next[0]).toBe('custody daemon start');
      expect(existsSync(unitFile)).toBe(false);
      // The second time a daemon serves, and nobody is told to stop it for nothing.
      await here.ask(['daemon', 'start']);
    }
    expect((await here.ask(['service', 'status'], { env })).data).toMatchObject({ state: 'none', active: 'unknown' });
  });

  it('while a daemon serves that somebody else has started', async () => {
    const { here, unitFile } = await withManager();
    onTestFinished(() => here.dispose());
    const { pid } = (await here.ask(['daemon', 'start'])).data;
    expect(refused(await here.custody(['service', 'install', '--json']))).toMatchObject({
      code: 'runtime_busy',
      exitCode: 7,
      details: { pid },
      next: ['custody daemon stop --keep-work', expect.any(String)],
    });
    expect(existsSync(unitFile)).toBe(false);
  });
});

describe('the text of the unit', () => {
  it('keeps paths as they are, whatever is in them', () => {
    const stateDir = '/home/a b/50% "off"/$HOME/back\\slash';
    const text = unitText({ node: '/usr/bin/node', daemon: '/x/daemon.js', stateDir, environment: { A: '1$2%3"4' } });
    expect(stateDirOf(text)).toBe(stateDir);
    expect(text).toContain('"/home/a b/50%% \\"off\\"/$$HOME/back\\\\slash"');
    // Variables are expanded in commands only (systemd.service(5)).
    expect(text).toContain('\nEnvironment="A=1$2%%3\\"4"\n');
  });
});
