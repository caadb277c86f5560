/** Chapter 1: a clone, an installation whose containment has been checked on this host, and a daemon. */
import type { InitView } from '../../../actors/daemon/initialise.ts';
import { expectThat } from '../expectation.ts';
import { quoted } from '../narrator.ts';
import { type Cloned, cloneArguments, cloned, type Source, sourceOf } from '../repository.ts';
import type { Stage } from '../stage.ts';

export interface Groundwork {
  readonly repository: Cloned & { readonly source: Source };
  readonly init: InitView;
  readonly daemonPid: number;
}

/** From the clone on nothing depends on the size of a repository but one checkout. */
const longestStoryMs = 120_000;

export async function layGroundwork(stage: Stage, named: string | undefined): Promise<Groundwork> {
  const { narrator, installation, scratch, interruption } = stage;
  narrator.chapter(
    'A clone to work on, and an installation of its own',
    'Everything happens in one scratch directory, which is removed at the end.',
  );
  narrator.typed(`D=${quoted(scratch.dir)}; export CUSTODY_HOME="$D/state"`);
  const cloning = { scratch, env: stage.env, signal: interruption.signal };
  const source = await sourceOf(named, cloning);
  narrator.command('git', ...cloneArguments(source, scratch));
  narrator.waiting('cloning');
  const clone = await cloned(source, cloning);
  narrator.fact('clone', `${clone.commits} commits, at ${clone.head} "${clone.subject}"`);
  scratch.enter();
  interruption.expireAfter(longestStoryMs);

  narrator.command('custody', 'init');
  narrator.waiting('checking this host');
  const init = await installation.init();
  for (const { ok, detail } of init.contract.checks) {
    if (ok) narrator.good('ok', detail);
    else narrator.warning('FAILED', detail);
  }
  expectThat(init.contract.verified, `${init.contract.name} is verified on this host`, init.contract.checks);
  narrator.fact('contract', `${init.contract.name} verified on this host: its receipts may seal a worktree`);

  narrator.command('custody', 'daemon', 'start');
  narrator.waiting('starting the daemon');
  const { pid } = await installation.start();
  narrator.fact('daemon', `pid ${pid}`);
  return { repository: { ...clone, source }, init, daemonPid: pid };
}
