/** bug-report: an archive that can be given away. It starts no daemon and needs neither one nor a store that is sound. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CallArguments, CallName } from '../../actors/daemon/api/contract.ts';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { action } from '../action.ts';
import { requireOperator } from '../credential.ts';
import { example } from '../globalOptions.ts';
import { Invocation, localAnswer } from '../invocation.ts';
import { line } from '../print/escape.ts';
import { size } from '../print/quantity.ts';
import { version } from '../version.ts';
import { unwritable } from '../wholeFile.ts';

interface Options {
  readonly output?: string;
  readonly force?: boolean;
}

export function registerBugReport(program: Command): void {
  example(
    program
      .command('bug-report')
      .description('write a redacted archive about this installation, to be given to somebody else')
      .option('-o, --output <file>', 'where to (default: custody-bug-report.tar.gz here)')
      .option('--force', 'replace a file that exists')
      .action(action(report)),
    'custody bug-report --output ~/custody-bug-report.tar.gz',
  );
}

async function report({ globals, places, output }: Invocation, options: Options): Promise<number> {
  requireOperator();
  const path = resolve(options.output ?? 'custody-bug-report.tar.gz');
  const { bugReport, leftOut } = await import('../../inspect/bugReport/report.ts');
  const { writeArchive } = await import('../../inspect/bugReport/archive.ts');
  output.status('looking');
  const { files, missing } = await bugReport(
    places,
    askedOf(new Invocation({ ...globals, autostart: false })),
    version,
  );
  const bytes = await writeArchive(path, files, options.force ?? false).catch((thrown: unknown) => {
    const isOfSystem = !(thrown instanceof OperatingError) && (thrown as NodeJS.ErrnoException).code !== undefined;
    throw isOfSystem ? unwritable(path, thrown as NodeJS.ErrnoException) : thrown;
  });
  output.clearStatus();
  const inside = files.map(({ name, about }) => ({ name, about }));
  return output.answer(
    localAnswer('bug-report', { path, bytes, inside, leftOut, missing }),
    (data) => [
      line`${data.path} (${size(data.bytes)}), for you alone until you give it away; look at it first`,
      'inside:',
      ...data.inside.map(({ name, about }) => line`  ${name}: ${about}`),
      'left out:',
      ...data.leftOut.map((each) => line`  ${each}`),
      ...(data.missing.length === 0
        ? []
        : ['could not be read:', ...data.missing.map(({ name, why }) => line`  ${name}: ${why}`)]),
    ],
    (data) => [data.path],
  );
}

/** A daemon that did not answer once is not asked again: each time may take as long as the first. */
function askedOf(invocation: Invocation) {
  let gone: unknown;
  const { places } = invocation;
  async function ask<Name extends CallName>(name: Name, args: CallArguments<Name>) {
    if (gone !== undefined) throw gone;
    try {
      return (await invocation.call(name, args)).data;
    } catch (cause) {
      if (cause instanceof OperatingError && cause.code.startsWith('daemon_')) gone = cause;
      throw cause;
    }
  }
  const offline = async () => await import('../../actors/daemon/doctor.ts');
  return {
    doctor: () =>
      ask('doctor', {}).catch(async (cause) => {
        if ((cause as OperatingError).code === 'daemon_unresponsive') throw cause;
        return { checks: await (await offline()).diagnoseOffline({ places, env: process.env }) };
      }),
    config: () =>
      ask('config', {}).catch(async () =>
        (await import('../../actors/daemon/config.ts')).loadConfig(places, process.env),
      ),
    status: () => ask('status', {}),
    metrics: () => ask('observe.metrics', { sinceMs: 0 }),
  };
}
