/** Chapter 4: daemon and viewer die by SIGKILL, the agent works on, and the next daemon finds it (drill D2). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, expectThat } from '../expectation.ts';
import { questions, resultFile } from '../scripts.ts';
import type { Stage, Workplace } from '../stage.ts';
import { expectSame, isAsking, pictureOf, show } from '../terminal.ts';
import type { Picture } from '../viewer.ts';
import { killAtOnce, living, parentOf } from '../witness.ts';
import { type Agent, watch } from './agentAtWork.ts';

interface BeforeAndAfter {
  readonly before: number;
  readonly after: number;
}

export interface Adoption {
  readonly daemonPid: BeforeAndAfter;
  readonly guardianPid: BeforeAndAfter;
  readonly workloadPid: BeforeAndAfter;
  readonly hostPid: BeforeAndAfter;
  readonly viewers: {
    readonly killed: number;
    /** Attached while there was no daemon, typed, and detached. */
    readonly withoutDaemon: number;
    readonly after: number;
  };
  /** Rows of the screen, not blank, that the last viewer was shown on attaching. */
  readonly repainted: readonly string[];
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

export async function killAndAdopt(stage: Stage, scene: Scene): Promise<Adoption & { readonly agent: Agent }> {
  const { narrator, installation } = stage;
  const { agent, daemonPid } = scene;
  narrator.chapter(
    'Daemon and viewer are killed; the work goes on',
    'Terminals can be used while there is no daemon. The next one finds the work by what its predecessor wrote down.',
  );
  await killBoth(stage, scene);
  const { typist, lines, picture } = await workWithoutDaemon(stage, scene);
  narrator.command('custody', 'daemon', 'start');
  narrator.waiting('starting the daemon');
  const { pid } = await installation.start();
  narrator.fact('daemon', `pid ${pid}`);
  const adopted = await adoptedSession(stage, agent);
  const launches = await launchesOf(stage, agent);
  const viewer = watch(stage, agent.sessionId, '--read-only');
  await expectSame(viewer, picture);
  expectThat(isEqual(picture, await pictureOf(stage, agent.sessionId)), 'the daemon shows the same screen', picture);
  show(stage, viewer.picture.rows);
  narrator.good('repainted', `for viewer pid ${viewer.pid}: the whole screen, and the cursor in its place`);
  return {
    daemonPid: { before: daemonPid, after: pid },
    guardianPid: { before: agent.guardianPid, after: adopted.guardianPid },
    workloadPid: { before: agent.workloadPid, after: adopted.workloadPid },
    hostPid: { before: agent.hostPid, after: adopted.hostPid },
    viewers: { killed: agent.viewer.pid, withoutDaemon: typist, after: viewer.pid },
    repainted: viewer.picture.rows.filter((row) => row !== ''),
    linesWithoutDaemon: lines,
    launches,
    agent: { ...agent, viewer, picture },
  };
}

const isEqual = (one: Picture, other: Picture): boolean => JSON.stringify(one) === JSON.stringify(other);

async function killBoth({ narrator, interruption }: Stage, { agent, daemonPid }: Scene): Promise<void> {
  const { guardianPid, workloadPid, hostPid, viewer } = agent;
  const victims = [daemonPid, viewer.pid];
  narrator.command('kill', '-KILL', ...victims.map(String));
  await killAtOnce(...victims);
  await eventually(interruption.signal, 'both end', async () => (await living(victims)).length === 0);
  await viewer.left();
  narrator.warning('killed', `daemon pid ${daemonPid} and viewer pid ${viewer.pid} are gone`);
  const alive = await living([guardianPid, workloadPid, hostPid]);
  expectThat(alive.length === 3, 'guardian, agent and PTY host live on', alive);
  narrator.good('alive', `guardian pid ${guardianPid}, root pid ${workloadPid}, PTY host pid ${hostPid}`);
}

/** ctrl-] d */
const detachKeys = '\x1dd';

/** Somebody attaches, sees all that was there, answers the agent, and leaves again. */
async function workWithoutDaemon(stage: Stage, { place, agent }: Scene) {
  const { narrator, installation, interruption } = stage;
  const from = await linesIn(place);
  const viewer = watch(stage, agent.sessionId);
  await expectSame(viewer, agent.picture);
  narrator.fact('viewer', `pid ${viewer.pid} sees what the killed one saw, and types "yes"`);
  await viewer.type('yes\r');
  await eventually(interruption.signal, 'the agent goes on', async () => (await linesIn(place)) > from);
  const to = await linesIn(place);
  const asks = `the agent asks "${questions.commit}"`;
  const picture = await viewer.until(asks, (shown) => isAsking(shown, questions.commit));
  expectThat(!(await installation.isServing()), 'nobody has started a daemon meanwhile');
  narrator.good('goes on', `the agent wrote: ${resultFile} has ${to} lines instead of ${from}, and no daemon runs`);
  await viewer.type(detachKeys);
  const status = await viewer.left();
  expectThat(status === 0, 'the viewer can detach', status);
  narrator.fact('viewer', `pid ${viewer.pid} pressed ctrl-] d and has left`);
  return { typist: viewer.pid, lines: { from, to }, picture };
}

const linesIn = async ({ path }: Workplace): Promise<number> =>
  (await readFile(join(path, resultFile), 'utf8')).split('\n').length - 1;

async function adoptedSession({ narrator, installation }: Stage, agent: Agent) {
  const { sessionId } = agent;
  narrator.command('custody', 'sessions', 'show', sessionId);
  const session = await installation.call('sessions.show', { id: sessionId });
  const { guardianPid, workloadPid } = session;
  expectThat(guardianPid === agent.guardianPid, `the guardian is still ${agent.guardianPid}`, guardianPid);
  expectThat(workloadPid === agent.workloadPid, `the root is still ${agent.workloadPid}`, workloadPid);
  const hostPid = await parentOf(guardianPid);
  expectThat(hostPid === agent.hostPid, `the PTY host is still ${agent.hostPid}`, hostPid);
  const { scopes } = await installation.call('processes', {});
  const state = scopes.find(({ scopeId }) => scopeId === agent.scopeId)?.assessment.state;
  expectThat(state === 'live', 'the scope is live', state);
  narrator.good(
    'adopted',
    `guardian pid ${guardianPid}, root pid ${workloadPid}, PTY host pid ${hostPid}: the same three`,
  );
  return { guardianPid, workloadPid, hostPid };
}

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
