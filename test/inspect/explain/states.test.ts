/** What a chart says of its states stands where it is so, and only there: in the text, on the page and in the life of a Goal. */
import { describe, expect, it } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { descriptionsAt, lastStates, quietStates, statePaths } from '../../../inspect/explain/states.ts';
import { leafPaths, waitOf } from '../../../inspect/server/fleet/paths.ts';
import { waitBars } from '../../../inspect/server/timeline.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import { definitions } from '../../../machines/registry.ts';
import { boot } from '../../machines/support/evidence.ts';
import { quarantined } from '../../machines/support/generationEvidence.ts';
import { admitted, granted, newGeneration, tell as tellGeneration } from '../../machines/support/generationStory.ts';
import { newGoal, tell } from '../../machines/support/goalStory.ts';
import {
  launch,
  playRun,
  playScope,
  playSession,
  rebooted,
  rootEnded,
  treeEnded,
} from '../../machines/support/play.ts';

const said = (kind: ActorKind, snapshot: AnyMachineSnapshot): string =>
  descriptionsAt(kind, statePaths(snapshot)).join(' ');

/** As a stored row has it: keys in the order of the alphabet. */
const onPage = (kind: ActorKind, { value }: AnyMachineSnapshot): string | null =>
  waitOf(kind, leafPaths(value).toSorted());

function pathsOf(kind: ActorKind): ReadonlySet<string> {
  const below = (node: (typeof definitions)[ActorKind]['machine']['root']): string[] => [
    node.path.join('.'),
    ...Object.values(node.states).flatMap((child) => below(child as never)),
  ];
  return new Set(below(definitions[kind].machine.root));
}

describe('the state that matters', () => {
  it.each(Object.keys(definitions) as ActorKind[])('of a %s is left out only where the chart has it', (kind) => {
    const paths = pathsOf(kind);
    const named = [...quietStates[kind], ...(lastStates[kind] ?? [])];
    expect(named.filter((path) => !paths.has(path))).toEqual([]);
    const { root } = definitions[kind].machine;
    const [first] = root.type === 'parallel' ? Object.keys(root.states) : [''];
    expect(quietStates[kind].filter((path) => path.split('.')[0] === first)).toEqual([]);
  });

  it('of a Goal is that of its work, also where it has failed', () => {
    const begun = tell(tell(tell(newGoal(), 'goal.queued'), 'claim.recorded'), 'step.advanced', { to: 'plan' });
    const failed = tell(tell(begun, 'claim.recorded'), 'step.failed');
    expect(onPage('goal', failed)).toBe('Automation has ended, and nothing goes on by itself.');
    expect(said('goal', failed)).toBe('Automation has ended, and nothing goes on by itself.');
    expect(onPage('goal', begun)).toContain('the verdict of a worker');
    expect(said('goal', tell(failed, 'sync.conflictRaised'))).toContain('Two decisions contradict each other');
    const cancelled = tell(tell(newGoal(), 'sync.conflictRaised'), 'goal.cancelled');
    expect(said('goal', cancelled)).not.toContain('contradict');
  });

  it('of a Goal stands beside each wait of its past', async () => {
    const queued = tell(newGoal(), 'goal.queued');
    const begun = tell(tell(queued, 'claim.recorded'), 'step.advanced', { to: 'plan' });
    const claimed = tell(begun, 'claim.recorded');
    const lived = [newGoal(), queued, begun, claimed, tell(claimed, 'step.failed')];
    const at = { wallMs: 0, monoMs: 0, bootId: boot };
    const moments = lived.map((snapshot, index) => ({
      ...{ position: index, version: index, outcome: 'changed', snapshot, before: undefined },
      envelope: { at: { ...at, wallMs: index } } as never,
    }));
    const history = { stopped: undefined, head: lived.at(-1), newest: undefined, missing: 0, isProved: true };
    const waits = await waitBars({ kind: 'goal', id: 'G1', moments, ...history }, newGoal().context.nodeId);
    expect(waits.map(({ label, reason }) => [label, reason?.split(/[.:]/)[0]])).toEqual([
      ['status not actionable', 'Being written'],
      ['nobody has begun', 'Queued'],
      ['no worker holds the step', 'Begun'],
      ['status not actionable', 'Automation has ended, and nothing goes on by itself'],
    ]);
  });

  it('of a proved scope is the proof: nothing of it may still live', () => {
    const proved = playScope([...launch, rootEnded, treeEnded]).snapshot;
    expect(said('executionScope', proved)).toBe('No process of the tree remains, by proof.');
    const restarted = playScope([...launch, rebooted]).snapshot;
    expect(said('executionScope', restarted)).toBe('No process of the tree remains, by proof.');
    const left = playScope([...launch, rootEnded]).snapshot;
    expect(said('executionScope', left)).toContain('the tree may still live');
  });

  it('of a live scope says no more of its guardian than looks have said', () => {
    expect(said('executionScope', playScope(launch).snapshot)).toContain('As far as anybody has looked');
  });

  it('of a worktree that was put aside is that, and nobody is said to be admitted', () => {
    const aside = tellGeneration(newGeneration(), granted, admitted('R1'), ['quarantine.recorded', quarantined]);
    expect(said('worktreeGeneration', aside)).toMatch(/^Put aside for good[^.]*\.$/);
    expect(onPage('worktreeGeneration', aside)).toContain('Put aside for good');
    expect(said('worktreeGeneration', newGeneration())).toContain('notes and predictions only');
  });

  it('of a run and of a session leaves out what has not come', () => {
    expect(said('run', playRun([]).snapshot)).toBe('The intent is durable; the job has no verified process yet.');
    expect(said('ptySession', playSession([['launch.releaseCommitted', {}]]).snapshot)).not.toContain('Output is read');
  });
});
