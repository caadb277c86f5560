/** init, doctor, config, version: what is there before, beside and without a daemon. */
import type { Command } from 'commander';
import type { CheckView, ConfigValueView } from '../../actors/daemon/api/views.ts';
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

/** A serving daemon tells what it goes by, which may be older than the file. */
async function config(invocation: Invocation): Promise<number> {
  const { places, output } = invocation;
  if (await findServing(places)) return output.answer(await invocation.call('config', {}), configLines);
  const { loadConfig } = await import('../../actors/daemon/config.ts');
  const { values, file } = loadConfig(places, process.env);
  const data: { readonly values: readonly ConfigValueView[]; readonly file: string } = { values, file };
  return output.answer(localAnswer('config', data), configLines);
}

function showVersion({ output }: Invocation): number {
  const data = { version, node: process.version, platform: process.platform, arch: process.arch };
  return output.answer(localAnswer('version', data), () => [line`${version}`]);
}
