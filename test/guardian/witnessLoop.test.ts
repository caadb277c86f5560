import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { controlClient } from '../../pty/launch/control.ts';
import { seeded } from '../host/support/random.ts';
import { signalVerified } from '../support/daemonLeftovers.ts';
import { eventually } from '../support/eventually.ts';
import { type GuardianPair, guardianPair } from '../support/guardianPair.ts';
import { patienceMs } from '../support/patience.ts';
import { bystander } from './support/bystander.ts';
import { expectWhole, type Half, halves } from './support/halves.ts';
import { program } from './support/programs.ts';
import { exists, gated, makeDirectory, type Scope, workDirectory } from './support/scope.ts';

const kills = process.env.CUSTODY_SOAK === '1' ? 500 : 30;

/** Event loop turns from the moment in which both halves are there; a launch takes tens of them, a short run hundreds. */
const mostTurns = 400;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const childrenOfThis = (): number[] =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);

/** The guardian of the launch that is under way, once it has forked; undefined if the launch is over before. */
async function pairOf(launch: Promise<unknown>): Promise<GuardianPair | undefined> {
  const before = new Set(known);
  const isOver = launch.then(
    () => true,
    () => true,
  );
  for (;;) {
    for (const pid of childrenOfThis()) {
      const pair = before.has(pid) ? undefined : guardianPair(pid);
      if (pair?.worker === undefined) continue;
      known.add(pid);
      return pair;
    }
    if (await Promise.race([isOver, turn()])) return undefined;
  }
}
const known = new Set<number>();

/** Processes that have something of this directory open, as every guardian and every workload here has. */
function holders(directory: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith(directory));
      } catch {
        return false;
      }
    });
}

interface Story {
  readonly argv: (directory: string) => readonly string[];
  readonly after: (scope: Scope) => Promise<void>;
  readonly end: object;
}

const untouched = async (): Promise<void> => {};

/** Whoever joins a drain that was lost sight of is told of its end as well. */
async function drained({ directory, launch }: Scope): Promise<void> {
  await launch.openGate();
  const control = await controlClient(directory, { timeoutMs: patienceMs });
  for await (const _ of control.terminate({ graceMs: 20, budgetMs: patienceMs }));
  control.close();
}

const stories: Readonly<Record<string, Story>> = {
  'a short run': {
    argv: (directory) => ['sh', '-c', `echo ran >> '${join(directory, 'ran')}'; (sh -c "exit 3" & exit 0); exit 7`],
    after: async ({ launch }) => void (await launch.openGate()),
    end: { how: 'exited', code: 7, reaped: 2, adopted: 1, terminated: false },
  },
  'a drain': {
    argv: () => [program('swarm'), 'mixed', '/dev/null', '1'],
    after: drained,
    end: { how: 'signaled', terminated: true },
  },
  'an abandoned launch': {
    argv: (directory) => ['touch', join(directory, 'ran')],
    after: async ({ launch }) => void (await launch.abandon()),
    end: { how: 'notReleased', reaped: 1, adopted: 0 },
  },
};

interface Kill {
  readonly name: string;
  readonly half: Half;
  readonly turns: number;
}

/** Tells one story and kills half of its guardian on the way. Returns how it ended. */
async function told({ name, half, turns }: Kill, directory: string): Promise<string> {
  const { argv, after, end } = stories[name]!;
  const scopeDir = join(directory, 'scope');
  const launching = gated(argv(directory), { scopeDir });
  const failure = launching.then(after).then(untouched, (error: { code?: string }) => error);
  const pair = await pairOf(launching);
  for (let left = turns; left > 0; left -= 1) await turn();
  const struck = pair !== undefined && signalVerified(pair[half]!, 'SIGKILL');
  const error = await failure;
  if (!exists(join(scopeDir, 'start.json'))) {
    expect({ half, code: error?.code }).toEqual({ half: 'worker', code: 'guardian_refused' });
  } else {
    const exit = await expectWhole(scopeDir);
    expect(exit).toMatchObject({ ...(exit.how === 'notReleased' ? { reaped: 1, adopted: 0 } : end), lostNested: 0 });
    const isExpectedToRun = name === 'a short run' && exit.how !== 'notReleased';
    expect(exists(join(directory, 'ran')) ? readFileSync(join(directory, 'ran'), 'utf8') : '').toBe(
      isExpectedToRun ? 'ran\n' : '',
    );
    if (exit.how === 'notReleased' && name !== 'an abandoned launch')
      expect(error?.code).toMatch(/^not_released$|^guardian_unreachable$/);
  }
  await eventually('nobody of the launch left', () => holders(directory).length === 0 || undefined);
  return `${name}, ${struck ? half : 'nobody'}`;
}

it(
  `22 ${kills} kills of half a guardian at any instant: complete receipts, the right end, nobody left, nobody else signalled`,
  async ({ annotate }) => {
    const random = seeded(20_261_130);
    const stranger = await bystander();
    const parent = workDirectory();
    const counts: Record<string, number> = {};
    const names = Object.keys(stories);
    for (let at = 0; at < kills; at += 1) {
      const kill = { name: names[random(names.length)]!, half: halves[random(2)]!, turns: random(mostTurns) };
      const outcome = await told(kill, makeDirectory(join(parent, String(at)))).catch((error: Error) => {
        throw new Error(`kill ${at}, ${JSON.stringify(kill)}: ${error.message}`, { cause: error });
      });
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    expect(await stranger.signalsSeen()).toBe(0);
    await annotate(`${kills} kills of half a guardian: ${JSON.stringify(counts)}`);
    expect(Object.keys(counts).filter((name) => !name.endsWith('nobody')).length).toBe(2 * names.length);
  },
  kills * patienceMs,
);
