/** Whatever an explanation tells people to do can be done: its commands exist, and who is said to help can. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../../../cli/program.ts';
import { evidenceOf } from '../../../inspect/explain/evidence.ts';
import { explain } from '../../../inspect/explain/explain.ts';
import type { Explanation } from '../../../inspect/explain/explanation.ts';
import { payloadSchemas } from '../../../machines/events/catalogue.ts';
import type { GoalSnapshot } from '../../../machines/goal.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import { statusReceipt } from '../../machines/support/evidence.ts';
import { admitted, granted, newGeneration, tell as tellGeneration } from '../../machines/support/generationStory.ts';
import { newGoal, tell } from '../../machines/support/goalStory.ts';
import { launch, playRun, playScope, playSession, type Told, treeEnded } from '../../machines/support/play.ts';
import { walk } from '../../machines/support/walk.ts';
import { tables } from '../../machines/tables/byKind.ts';
import { type Records, sourceOf } from './support/records.ts';

const root = join(import.meta.dirname, '../../..');
const types = Object.keys(payloadSchemas);
const program = buildProgram();

/** Commands that a text names and that do not exist; of a group, the member that follows has to be one. */
function unknownCommands(text: string): readonly string[] {
  return [...text.matchAll(/\bcustody ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g)].flatMap(([named, name, member]) => {
    const command = program.commands.find((each) => each.name() === name);
    if (command === undefined) return [named];
    const isMember = command.commands.length === 0 || member === undefined;
    return isMember || command.commands.some((each) => each.name() === member) ? [] : [named];
  });
}

const enough = 400;

function* explanations(kind: ActorKind): Generator<Explanation> {
  const seen = new Set<unknown>();
  walk(tables[kind], {
    onStep: ({ snapshot }) => {
      const isFull = seen.size >= enough;
      if (!isFull) seen.add(snapshot);
      return isFull;
    },
  });
  for (const checks of [true, false, 'unknown'] as const)
    for (const snapshot of seen)
      yield explain(sourceOf({ actors: [[kind, 'A1', snapshot as never]], checks }), kind, 'A1') as Explanation;
}

describe.each(Object.keys(tables) as ActorKind[])('what is said of a %s', (kind) => {
  const all = [...explanations(kind)];

  it('names no command that there is not', () => {
    const named = all.flatMap(({ sentences }) => sentences);
    expect([...new Set(named.flatMap(unknownCommands))]).toEqual([]);
  });

  it('sends nobody to a person who has no command for it', () => {
    const suppliers = new Set(all.flatMap(({ unblocks }) => unblocks.map(({ supplier }) => supplier)));
    expect([...suppliers].filter((one) => /operator|person/.test(one) && !one.includes('(custody '))).toEqual([]);
  });
});

it('knows what a wrong command is', () => {
  expect(unknownCommands('custody goals accept G1, custody goals, custody config says')).toEqual([
    'custody goals accept',
  ]);
});

it('has a supplier for exactly those events that something in this version brings', () => {
  const files = [
    ...readdirSync(join(root, 'actors'), { recursive: true, encoding: 'utf8' }).map((name) => `actors/${name}`),
    'machines/relays.ts',
  ].filter((name) => name.endsWith('.ts'));
  const source = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
  const isBrought = (type: string) => source.includes(`'${type}'`);
  const supplied = types.filter((type) => evidenceOf(type).supplier !== null);
  expect(supplied).toEqual(types.filter(isBrought));
  const people = types.filter((type) => /operator|person/.test(evidenceOf(type).supplier ?? ''));
  expect(people.filter((type) => !evidenceOf(type).supplier?.includes('(custody '))).toEqual([]);
  expect(types.flatMap((type) => unknownCommands(evidenceOf(type).supplier ?? ''))).toEqual([]);
});

describe('a Goal', () => {
  const { goalId, nodeId } = newGoal().context;
  const text = (goal: GoalSnapshot, rest: Partial<Records> = {}): string => {
    const source = sourceOf({ nodeId, ...rest, actors: [['goal', goalId, goal], ...(rest.actors ?? [])] });
    return (explain(source, 'goal', goalId) as Explanation).sentences.join('\n');
  };
  const queued = tell(newGoal(), 'goal.queued');
  const begun = tell(tell(queued, 'claim.recorded'), 'step.advanced', { to: 'plan' });
  const checking = tell(begun, 'claim.recorded', { claimId: 'R7-claim' });
  const verdict = (word: 'accepted' | 'failed') => tell(checking, 'receipt.recorded', { verdict: word });
  const ended = (code: number): Records['actors'] => {
    const end: Told = ['workload.statusReceipt', { ...statusReceipt('S1'), code }];
    return [
      ['run', 'R7', playRun([], { rootScopeId: 'S1' as never }).snapshot],
      ['executionScope', 'S1', playScope([...launch, end, treeEnded]).snapshot],
    ];
  };

  it('for which no check is configured waits for no worker, and says how to configure one', () => {
    const said = text(queued, { checks: false });
    expect(said).toContain('No check is configured for its repository');
    expect(said).toContain('"checks" of the configuration (custody config');
    expect(said).toContain('custody daemon restart --keep-work');
    expect(said).not.toMatch(/waits for a worker|would help/);
    expect(text(queued)).toContain('waits for a worker of this node');
    expect(text(queued, { checks: 'unknown' })).toContain('if one is configured');
  });

  it('whose check has passed says so, and that nothing of this version goes on from there', () => {
    const said = text(verdict('accepted'), { actors: ended(0) });
    expect(said).toContain('Its check has passed: run R7 (exit 0; custody runs logs R7 shows its output).');
    expect(said).toContain('no command that accepts or advances it');
    expect(said).not.toMatch(/to go on|would help|Blocked/);
  });

  it('whose check has failed names the run, its exit and its output, and what is left to do', () => {
    const said = text(verdict('failed'), { actors: ended(2) });
    expect(said).toContain('Its check has failed: run R7 (exit 2; custody runs logs R7 shows its output).');
    expect(said).toContain('new Goal (custody goals add)');
    expect(said).toContain(`custody goals cancel ${goalId}`);
    expect(said).not.toMatch(/would help|new Round|another step/);
  });

  it('that has a request is not said to need one', () => {
    expect(text(newGoal())).not.toMatch(/a request, as a new Round/i);
    expect(text(newGoal())).toContain('custody goals queue');
  });
});

describe('others', () => {
  it('a session that was stopped did not go wrong', () => {
    const story: readonly Told[] = [
      ['launch.releaseCommitted', {}],
      ['stop.requested', { stopRequestId: 'q', actor: 'operator', cause: 'cancelled' } as never],
    ];
    const { sentences } = explain(
      sourceOf({ actors: [['ptySession', 'P1', playSession(story).snapshot]] }),
      'ptySession',
      'P1',
    ) as Explanation;
    expect(sentences.join('\n')).toContain('Its end was asked for (cancelled).');
    expect(sentences.join('\n')).not.toContain('wrong');
  });

  it('a worktree on its way to somebody else is not said to wait for nothing, or to be taken over', () => {
    const leaving = tellGeneration(newGeneration(), granted, admitted('R1'), [
      'authority.handoffRequested',
      { to: 'others', requestId: 'q', actor: 'operator' } as never,
    ]);
    const { sentences } = explain(
      sourceOf({ actors: [['worktreeGeneration', 'W1', leaving]] }),
      'worktreeGeneration',
      'W1',
    ) as Explanation;
    expect(sentences.join('\n')).toContain('custody worktrees authority W1 abandon');
    expect(sentences.join('\n')).not.toMatch(/waits for nothing|takes it over/);
  });
});
