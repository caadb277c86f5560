import { describe, expect, it } from 'vitest';
import type { ActorDefinition } from '../../machines/definition.ts';
import { linksOf } from '../../machines/definition.ts';
import { effectPolicies, isEffectType } from '../../machines/effects.ts';
import { createdBy, type EventType, payloadSchemas } from '../../machines/events/catalogue.ts';
import { executionScopeDefinition } from '../../machines/executionScope.ts';
import { ptySessionDefinition } from '../../machines/ptySession.ts';
import { definitions } from '../../machines/registry.ts';
import { runDefinition } from '../../machines/run.ts';
import { start } from '../../machines/step.ts';
import {
  bound,
  drain,
  launch,
  playRun,
  playScope,
  playSession,
  prepared,
  rootEnded,
  seen,
  type Told,
  treeEnded,
} from './support/play.ts';
import { scopeInput } from './support/scopeSamples.ts';
import { begun, captureDrains, captureOver, ended, proved } from './support/sessionStory.ts';
import { runInput } from './tables/run.ts';

const reported: Told = ['exit.reported', { exitCode: 0, signal: null, reporter: 'launcher' }];

describe('a run, to its host', () => {
  it.each<readonly [string, readonly Told[], boolean]>([
    ['reserved', [], false],
    ['bound', [bound], false],
    ['claimed to have ended', [bound, reported], false],
    ['ended', [bound, rootEnded], true],
  ])('is over only with its process: %s (RUN-07)', (_, story, isOver) => {
    const { snapshot } = playRun(story);
    expect(runDefinition.isSettled(snapshot)).toBe(isOver);
    expect(runDefinition.isReleased(snapshot)).toBe(isOver);
  });

  it('is found by its generation, its Goal and its root scope', () => {
    const goalRef = { goalId: 'G1', occurrence: 1, step: 'plan', nodeId: 'N1', round: 0 } as never;
    expect(runDefinition.links(playRun([], { goalRef }).snapshot)).toEqual({
      generationId: 'W1',
      goalId: 'G1',
      scopeId: 'S1',
    });
    const alone = playRun([], { generationId: null, rootScopeId: null }).snapshot;
    expect(runDefinition.links(alone)).toEqual({});
  });
});

describe('a scope, to its host', () => {
  it.each<readonly [string, readonly Told[], boolean]>([
    ['wanted', [], false],
    ['released', launch, false],
    ['its root ended', [...launch, rootEnded], false],
    ['drained and lost', [...launch, drain('stop'), seen('absent')], false],
    ['proved', [...launch, treeEnded], true],
    ['never launched', [prepared, ['launch.notStarted', { errno: 'EAGAIN', phase: 'spawn' }]], true],
  ])('gives back what it holds only when it is over: %s (I-26, I-27)', (_, story, isOver) => {
    const { snapshot } = playScope(story);
    expect(executionScopeDefinition.isSettled(snapshot)).toBe(isOver);
    expect(executionScopeDefinition.isReleased(snapshot)).toBe(isOver);
  });

  it('is found by its run, generation, Goal and enclosing scope', () => {
    const parentScopeId = 'S0' as NonNullable<ReturnType<typeof scopeInput>['parentScopeId']>;
    expect(executionScopeDefinition.links(playScope([], { parentScopeId }).snapshot)).toEqual({
      runId: 'R1',
      generationId: 'W1',
      goalId: 'G1',
      parentScopeId: 'S0',
    });
    const alone = { runId: null, generationId: null, goalId: null };
    expect(executionScopeDefinition.links(playScope([], alone).snapshot)).toEqual({});
  });

  it('links nothing that is not a name', () => {
    expect(linksOf({ a: 'A1', b: null, c: undefined })).toEqual({ a: 'A1' });
  });
});

describe('a session, to its host', () => {
  it.each<readonly [string, readonly Told[], boolean]>([
    ['opened', [], false],
    ['its agent ended', [begun, ended()], false],
    ['its tree is gone, its output is still read', [begun, ended(), captureDrains, proved], false],
    ['its output was read, its tree is not proved gone', [begun, ended(), captureDrains, captureOver], false],
    ['all three', [begun, ended(), captureDrains, captureOver, proved], true],
  ])('gives back what it holds only when it is over: %s (PTY-05, I-27)', (_, story, isOver) => {
    const { snapshot } = playSession(story);
    expect(ptySessionDefinition.isSettled(snapshot)).toBe(isOver);
    expect(ptySessionDefinition.isReleased(snapshot)).toBe(isOver);
  });

  it('is found by its run and its scope', () => {
    expect(ptySessionDefinition.links(playSession([]).snapshot)).toEqual({ runId: 'R1', scopeId: 'S1' });
  });
});

describe.each(Object.values(definitions))('the definition of a $kind', ({ kind, plane, version, upcasters }) => {
  it('has one event that creates its actors, and is local unless it is a Goal (SYNC-07)', () => {
    const creators = (Object.keys(payloadSchemas) as EventType[]).filter((type) => createdBy(type) === kind);
    expect(creators.length).toBe(1);
    expect(plane).toBe(kind === 'goal' ? 'semantic' : 'local');
  });

  it('leads every earlier version to the present one (JRN-09)', () => {
    const steps = Array.from({ length: version - 1 }, (_, index) => String(index + 1));
    expect(Object.keys(upcasters)).toEqual(steps);
  });
});

it('takes the event that creates an actor as its input and keeps no more of it than the payload', () => {
  const created = (definition: ActorDefinition, payload: object) => {
    const event = { ...payload, type: 'created', eventId: 'e' };
    return Object.keys(start(definition.machine, definition.inputOf(event)).snapshot.context);
  };
  for (const fields of [created(runDefinition, runInput()), created(executionScopeDefinition, scopeInput())]) {
    expect(fields).not.toContain('type');
    expect(fields).not.toContain('eventId');
  }
});

describe('effects (JRN-11)', () => {
  it('are tried once where they start something, and offered again where asking twice changes nothing', () => {
    expect(effectPolicies).toEqual({ launchScope: 'once', openGate: 'once', drainScope: 'repeatable' });
  });

  it('are known by name alone', () => {
    expect(isEffectType('openGate')).toBe(true);
    expect(isEffectType('toString')).toBe(false);
    expect(isEffectType('recordEnd')).toBe(false);
  });
});
