import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundled, node } from '../persistence/support/children.ts';
import { opened, stateDirIn, temporaryDirectory } from '../persistence/support/temporaryStore.ts';

const crashing = bundled('test/host/fixtures/crashing.ts', 'crashing');

async function run(stateDir: string, point: string) {
  const started = node(crashing, stateDir, point);
  const said: Array<Record<string, unknown>> = [];
  for await (const line of started.lines) said.push(JSON.parse(line));
  const { signal, code, stderr } = await started.ended;
  const answered = said.find((line) => 'answered' in line)?.answered;
  return { ended: signal ?? code, stderr, answered };
}

/** What happened outside, in order. */
const world = (stateDir: string): string[] =>
  existsSync(join(stateDir, 'world')) ? readFileSync(join(stateDir, 'world'), 'utf8').trim().split('\n') : [];

function eventIds(stateDir: string): string[] {
  const store = opened({ stateDir, create: false });
  const ids = store.journal.page().map((entry) => (entry.intact ? `${entry.eventId.split(':').at(-1)}` : 'damaged'));
  store.close();
  return ids;
}

const fresh = [
  ['changed', null, 2, 3],
  ['changed', null, 3, 5],
  ['changed', null, 4, 6],
];
const repeated = fresh.map(([, , version, position]) => ['duplicate', 'changed', version, position]);
const opened2 = ['L1', 'L2'];
const all = [...opened2, 'e1', 'e1', 'e2', 'e3'];

describe('JRN-01, JRN-11, FAULT-01, FAULT-02: a crash at every commit point', () => {
  it.each(['before_begin', 'after_journal_insert', 'before_commit'])('%s: nothing has happened', async (point) => {
    const stateDir = stateDirIn(temporaryDirectory());
    expect(await run(stateDir, point)).toMatchObject({ ended: 'SIGKILL', answered: undefined, stderr: '' });
    expect(eventIds(stateDir)).toEqual(opened2);
    expect(world(stateDir)).toEqual([]);
    expect(await run(stateDir, 'nowhere')).toMatchObject({ ended: 0, answered: fresh, stderr: '' });
    expect(eventIds(stateDir)).toEqual(all);
    expect(world(stateDir).sort()).toEqual(['executed drainScope 1.6.0', 'executed launchScope 1.5.0']);
  });

  it('after_commit: everything is there, and the repeated request gets the stored answer', async () => {
    const stateDir = stateDirIn(temporaryDirectory());
    expect(await run(stateDir, 'after_commit')).toMatchObject({ ended: 'SIGKILL', answered: undefined });
    expect(eventIds(stateDir)).toEqual(all);
    expect(world(stateDir)).toEqual([]);
    expect(await run(stateDir, 'nowhere')).toMatchObject({ ended: 0, answered: repeated, stderr: '' });
    expect(eventIds(stateDir)).toEqual(all);
    expect(world(stateDir).sort()).toEqual(['executed drainScope 1.6.0', 'resolved launchScope 1.5.0']);
  });

  it.each([
    { point: 'before_effect', launches: 0, drains: 1 },
    { point: 'before_executed_launchScope', launches: 0, drains: 1 },
    { point: 'after_executed_launchScope', launches: 1, drains: 1 },
    { point: 'before_executed_drainScope', launches: 1, drains: 1 },
    { point: 'after_executed_drainScope', launches: 1, drains: 2 },
  ])(
    '$point: the once-only effect is executed at most once and then resolved, the other until it is done',
    async (expected) => {
      const stateDir = stateDirIn(temporaryDirectory());
      expect(await run(stateDir, expected.point)).toMatchObject({ ended: 'SIGKILL', answered: fresh });
      expect(await run(stateDir, 'nowhere')).toMatchObject({ ended: 0, answered: repeated, stderr: '' });
      expect(eventIds(stateDir)).toEqual(all);
      const acts = world(stateDir);
      const times = (act: string) => acts.filter((one) => one === act).length;
      expect({
        launches: times('executed launchScope 1.5.0'),
        drains: times('executed drainScope 1.6.0'),
        resolutions: times('resolved launchScope 1.5.0'),
      }).toEqual({ launches: expected.launches, drains: expected.drains, resolutions: 1 });
    },
  );
});
