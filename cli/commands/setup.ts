/** init, doctor, config, version: what is there before, beside and without a daemon. */
import type { Command } from 'commander';
import type { CallResults } from '../../actors/daemon/api/results.ts';
import type { CheckView, ConfigValueView } from '../../actors/daemon/api/views.ts';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { action } from '../action.ts';
import { findServing } from '../autostart.ts';
import { requireOperator } from '../credential.ts';
import { usage } from '../failure.ts';
import { example } from '../globalOptions.ts';
import { type Invocation, localAnswer } from '../invocation.ts';
import { checkLines, checksExitCode } from '../print/checks.ts';
import { configLines } from '../print/config.ts';
import { line } from '../print/escape.ts';
import { initLines, type ServedView } from '../print/init.ts';
import { version } from '../version.ts';

export function registerSetup(program: Command): void {
  example(
    program
      .command('init')
      .description('create the state directory, check this host, run the containment self-check')
      .option('--check', 'only verify what is there; create and change nothing')
      .option('--adopt', 'a state directory that was copied or moved here is the installation from now on')
      .action(action(init)),
    'custody init',
    'custody init --check --json',
  );
  example(
    program
      .command('doctor')
      .description('check environment, store, guardian and process inspection; works without a daemon')
      .action(action(doctor)),
    'custody doctor',
  );
  example(
    program
      .command('config')
      .description('show every parameter, its value and where that comes from')
      .action(action(config)),
    'custody config --json',
  );
  example(program.command('version').description('print the version').action(action(showVersion)), 'custody version');
}

interface InitOptions {
  readonly check?: boolean;
  readonly adopt?: boolean;
}

async function init({ places, output }: Invocation, { check = false, adopt = false }: InitOptions): Promise<number> {
  if (check && adopt) throw usage('--check changes nothing and --adopt does', ['custody init --adopt']);
  if (!check) requireOperator();
  const serving = await findServing(places);
  if (serving) {
    const served: ServedView = { stateDir: places.stateDir, created: false, servedByPid: serving.hello.pid };
    return output.answer(localAnswer('init', served), initLines, () => []);
  }
  output.status('checking this host');
  const { initialise } = await import('../../actors/daemon/initialise.ts');
  const { warnings, ...view } = await initialise({ places, checkOnly: check, adopt });
  output.clearStatus();
  return Math.max(
    output.answer({ ...localAnswer('init', view), warnings }, initLines, () => []),
    checksExitCode(view.contract.checks),
  );
}

/** A daemon sees more (its own descriptors, lanes and sockets), but a sick installation may have none. */
async function doctor(invocation: Invocation): Promise<number> {
  const { places, output } = invocation;
  output.status('checking');
  const serving = await findServing(places);
  const answer = serving
    ? await invocation.call('doctor', {})
    : localAnswer<{ readonly checks: readonly CheckView[] }>('doctor', {
        checks: await (await import('../../actors/daemon/doctor.ts')).diagnoseOffline({ places, env: process.env }),
      });
  output.clearStatus();
  return Math.max(
    output.answer(answer, ({ checks }, style) => checkLines(checks, style)),
    checksExitCode(answer.data.checks),
  );
}

/** A serving daemon tells what it goes by; where the file says something else by now, or nothing usable, that is said too. */
async function config(invocation: Invocation): Promise<number> {
  const { places, output } = invocation;
  const { loadConfig } = await import('../../actors/daemon/config.ts');
  if (await findServing(places)) {
    const answer = await invocation.call('config', {});
    const since = answer.data.file === places.configFile ? changesSince(answer.data, () => loadConfig(places, {})) : [];
    return output.answer({ ...answer, warnings: [...answer.warnings, ...since] }, configLines);
  }
  const { values, file } = loadConfig(places, process.env);
  const data: { readonly values: readonly ConfigValueView[]; readonly file: string } = { values, file };
  return output.answer(localAnswer('config', data), configLines);
}

/** What the environment of a daemon decides, its file cannot change. */
function changesSince({ values }: CallResults['config'], fromFile: () => CallResults['config']): readonly string[] {
  try {
    const now = new Map(fromFile().values.map(({ name, value }) => [name, JSON.stringify(value)]));
    const changed = values.filter(
      ({ name, value, origin }) => origin !== 'environment' && now.has(name) && now.get(name) !== JSON.stringify(value),
    );
    if (changed.length === 0) return [];
    const names = changed.map(({ name }) => name).join(', ');
    return [`the file has another value for ${names} by now; try: custody daemon restart --keep-work`];
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    return [`the next daemon would not start: ${error.message}`];
  }
}

function showVersion({ output }: Invocation): number {
  const data = { version, node: process.version, platform: process.platform, arch: process.arch };
  return output.answer(localAnswer('version', data), () => [line`${version}`]);
}
