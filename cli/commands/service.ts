/** service install, uninstall, status: the daemon as a unit of `systemd --user`. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { callServiceManager } from '../../actors/daemon/service/manager.ts';
import { unitFileOf, unitName, unitState } from '../../actors/daemon/service/place.ts';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import type { Places } from '../../actors/runtime/places.ts';
import { action } from '../action.ts';
import { daemonProgram, findServing, startedByService } from '../autostart.ts';
import { requireOperator } from '../credential.ts';
import { example } from '../globalOptions.ts';
import { type Invocation, localAnswer } from '../invocation.ts';
import { daemonEnvironment } from '../launchEnvironment.ts';
import { requireOwn } from '../ownership.ts';
import { type ServiceState, serviceLines } from '../print/service.ts';
import { stateDirOf, unitText } from '../service/unit.ts';

export function registerService(program: Command): void {
  const service = program.command('service').description('the daemon as a service of this user (systemd --user)');
  for (const [verb, description, run] of [
    ['install', 'write its unit file, start it now and at every login', install],
    ['uninstall', 'remove its unit file; the daemon that runs goes on', uninstall],
    ['status', 'is it installed, and does it run? exit 0 either way', status],
  ] as const)
    example(service.command(verb).description(description).action(action(run)), `custody service ${verb}`);
}

async function install(invocation: Invocation): Promise<number> {
  const { places, output } = invocation;
  requireOperator();
  requireOwn(places.stateDir);
  const unitFile = ownUnitFile(places.stateDir);
  const serving = await findServing(places);
  // Asked before anything is written or anybody is told to stop a daemon for it: without a manager all is left as it is.
  await order(invocation, unitFile, ['show-environment']);
  if (serving && !serving.hello.service) throw alreadyServed(serving.hello.pid);
  const environment = await unitEnvironment(invocation);
  const { stateDir } = places;
  writeUnit(unitFile, unitText({ node: process.execPath, daemon: daemonProgram(), stateDir, environment }));
  await order(invocation, unitFile, ['daemon-reload']);
  output.status('starting the daemon');
  await order(invocation, unitFile, ['enable', '--now', unitName]);
  const { hello } = await startedByService(places);
  output.clearStatus();
  const state = { unitFile, state: 'ours', active: 'active', enabled: 'enabled', pid: hello.pid } as const;
  return output.answer(localAnswer('service.install', state), serviceLines);
}

/** It is not stopped: that is `custody daemon stop`, which asks what it owns first (SHUT-05). */
async function uninstall(invocation: Invocation): Promise<number> {
  const { places, output } = invocation;
  requireOperator();
  requireOwn(places.stateDir);
  const unitFile = ownUnitFile(places.stateDir);
  if (unitState(unitFile) === 'ours') {
    await order(invocation, unitFile, ['disable', unitName]);
    rmSync(unitFile);
    await order(invocation, unitFile, ['daemon-reload']);
  }
  return output.answer(localAnswer('service.uninstall', await stateOf(invocation)), serviceLines);
}

async function status(invocation: Invocation): Promise<number> {
  return invocation.output.answer(localAnswer('service.status', await stateOf(invocation)), serviceLines);
}

async function stateOf({ places }: Invocation): Promise<ServiceState> {
  const { serviceManager } = (await settings(places)).config;
  const unitFile = unitFileOf(process.env);
  const [active, enabled, serving] = await Promise.all([
    callServiceManager(serviceManager, ['is-active', unitName]),
    callServiceManager(serviceManager, ['is-enabled', unitName]),
    findServing(places).catch(() => undefined),
  ]);
  // Both say it in one word, also where the answer is no; without a word nobody could be asked.
  const word = (stdout: string) => stdout.trim().split('\n')[0] || 'unknown';
  const pid = serving?.hello.service ? serving.hello.pid : null;
  return { unitFile, state: unitState(unitFile), active: word(active.stdout), enabled: word(enabled.stdout), pid };
}

/** Throws `unit_foreign` (exit 11) for a file that we have not written, or have written for another installation. */
function ownUnitFile(stateDir: string): string {
  const unitFile = unitFileOf(process.env);
  const state = unitState(unitFile);
  const other = state === 'ours' ? stateDirOf(readFileSync(unitFile, 'utf8')) : undefined;
  if (state === 'none' || (state === 'ours' && other === stateDir)) return unitFile;
  throw new OperatingError({
    code: 'unit_foreign',
    message:
      state === 'foreign'
        ? `${unitFile} was not written by this program`
        : `${unitFile} is the unit of the installation at ${other}`,
    exitCode: 11,
    next: [state === 'foreign' ? `move ${unitFile} away` : `custody --state-dir ${other} service uninstall`],
    details: { unitFile },
  });
}

const alreadyServed = (pid: number): OperatingError =>
  new OperatingError({
    code: 'runtime_busy',
    message: `a daemon (pid ${pid}) serves that no service manager has started`,
    exitCode: 7,
    retryable: true,
    next: ['custody daemon stop --keep-work', 'repeat the command: the work goes on meanwhile'],
    details: { pid },
  });

/** Throws `no_service` (exit 8) with what can be done without. */
async function order({ places }: Invocation, unitFile: string, args: readonly string[]): Promise<void> {
  const { serviceManager } = (await settings(places)).config;
  const { refusal } = await callServiceManager(serviceManager, args);
  if (refusal === undefined) return;
  throw new OperatingError({
    code: 'no_service',
    message: `${serviceManager} --user ${args.join(' ')}: ${refusal}`,
    exitCode: 8,
    next: [
      'custody daemon start',
      `without systemd: let whatever starts your session run ${JSON.stringify(`${process.execPath} ${daemonProgram()} --state-dir ${places.stateDir}`)}`,
      ...(unitState(unitFile) === 'ours' ? [`journalctl --user -u ${unitName}`] : []),
    ],
  });
}

/** What a login does not set anew: where things are, and the parameters that this shell has set. */
async function unitEnvironment({ places }: Invocation): Promise<Record<string, string>> {
  const env = daemonEnvironment(process.env);
  const parameters = (await settings(places)).values.filter(({ origin }) => origin === 'environment');
  const variables = parameters.map(({ name }) => `CUSTODY_${name.replace(/[A-Z]/g, '_$&')}`.toUpperCase());
  const kept = ['PATH', 'LANG', 'TMPDIR', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', ...variables];
  return Object.fromEntries(kept.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/** Loaded when a command runs: it brings a parser along. */
async function settings(places: Places) {
  const { loadConfig } = await import('../../actors/daemon/config.ts');
  return loadConfig(places, daemonEnvironment(process.env));
}

/** For its user alone: parameters that were set in the environment are in it, command lines of checks among them. */
function writeUnit(unitFile: string, text: string): void {
  mkdirSync(dirname(unitFile), { recursive: true });
  writeFileSync(`${unitFile}.new`, text, { mode: 0o600 });
  renameSync(`${unitFile}.new`, unitFile);
}
