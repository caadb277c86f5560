/** Chapter 4: the daemon dies by SIGKILL, the agent works on, and the next daemon finds it (drill D2). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answer } from '../answer.ts';
import { eventually, expectThat, found } from '../expectation.ts';
import { resultFile } from '../scripts.ts';
import type { Stage, Workplace } from '../stage.ts';
import { killAtOnce, living } from '../witness.ts';
import type { Agent } from './agentAtWork.ts';

export interface Adoption {
  readonly daemonPid: { readonly before: number; readonly after: number };
  readonly guardianPid: { readonly before: number; readonly after: number };
  readonly workloadPid: { readonly before: number; readonly after: number };
  /** Lines of the result, when the daemon had died and before the next one was started. */
  readonly linesWithoutDaemon: { readonly from: number; readonly to: number };
  /** How often the journal has each step of this launch. */
  readonly launches: { readonly prepared: number; readonly released: number };
}

interface Scene {
  readonly place: Workplace;
  readonly agent: Agent;
  readonly daemonPid: number;
}

export async function killAndAdopt(stage: Stage, scene: Scene): Promise<Adoption> {
  const { narrator, installation } = stage;
  const { agent, daemonPid } = scene;
  narrator.chapter(
    'The daemon is killed; the work goes on',
    'The next daemon finds the same guardian by what its predecessor wrote down before the launch.',
  );
  const linesWithoutDaemon = await workWithoutDaemon(stage, scene);
  narrator.command('custody', 'daemon', 'start');
  narrator.waiting('starting the daemon');
  const { pid } = await installation.start();
  narrator.fact('daemon', `pid ${pid}`);
  narrator.command('custody', 'processes');
  const { scopes } = await installation.call('processes', {});
  const scope = found(
    scopes.find(({ scopeId }) => scopeId === agent.scopeId),
    'the scope of the agent',
  );
  const { guardianPid, workloadPid, assessment, summary } = scope;
  expectThat(assessment.state === 'live', 'the scope is live', assessment);
  expectThat(guardianPid === agent.guardianPid, `the guardian is still ${agent.guardianPid}`, guardianPid);
  expectThat(workloadPid === agent.workloadPid, `the root is still ${agent.workloadPid}`, workloadPid);
  narrator.good('adopted', `guardian pid ${guardianPid}, root pid ${workloadPid}, the same two; ${summary}`);
  const launches = await launchesOf(stage, agent);
  return {
    daemonPid: { before: daemonPid, after: pid },
    guardianPid: { before: agent.guardianPid, after: guardianPid },
    workloadPid: { before: agent.workloadPid, after: workloadPid },
    linesWithoutDaemon,
    launches,
  };
}

async function workWithoutDaemon(stage: Stage, { place, agent, daemonPid }: Scene) {
  const { narrator, installation, scratch, interruption } = stage;
  const { guardianPid, workloadPid } = agent;
  const { signal } = interruption;
  const from = await linesIn(place);
  narrator.command('kill', '-KILL', String(daemonPid));
  await killAtOnce(daemonPid);
  await eventually(signal, `daemon ${daemonPid} ends`, async () => !(await living([daemonPid])).includes(daemonPid));
  narrator.warning('daemon', `pid ${daemonPid} is gone`);
  const alive = await living([guardianPid, workloadPid]);
  expectThat(alive.length === 2, 'guardian and agent live on', alive);
  narrator.good('alive', `guardian pid ${guardianPid}, root pid ${workloadPid}`);
  const to = await answer(scratch, 'count', async () => {
    await eventually(signal, 'the agent goes on', async () => (await linesIn(place)) > from);
    return linesIn(place);
  });
  expectThat(!(await installation.isServing()), 'nobody has started a daemon meanwhile');
  narrator.good(
    'goes on',
    `answered "yes", it wrote: ${resultFile} has ${to} lines instead of ${from}, and no daemon runs`,
  );
  return { from, to };
}

const linesIn = async ({ path }: Workplace): Promise<number> =>
  (await readFile(join(path, resultFile), 'utf8')).split('\n').length - 1;

/** A second launch would be a second row: nothing opens a gate that is not in the journal first. */
async function launchesOf({ narrator, installation }: Stage, { scopeId }: Agent): Promise<Adoption['launches']> {
  narrator.command('custody', 'events', '--actor', scopeId);
  const { events } = await installation.call('events', { actor: scopeId, limit: 1_000 });
  const count = (type: string) => events.filter((event) => event.type === type).length;
  const launches = { prepared: count('launch.prepared'), released: count('launch.releaseCommitted') };
  const { prepared, released } = launches;
  expectThat(prepared === 1 && released === 1, 'the journal has one launch', launches);
  narrator.good('journal', `${prepared} launch prepared, ${released} released: nothing was launched twice`);
  return launches;
}
