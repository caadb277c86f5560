/**
 * Ids are opaque: a kind letter and random characters, compared for equality only. The daemon makes them (this folder
 * has no randomness); zod brands keep a run id from being passed where a scope id is meant.
 */
import { z } from 'zod';

/** Room for ids of other installations; nothing in here depends on the length. */
const opaque = z.string().min(1).max(64);

export const goalIdSchema = opaque.brand<'GoalId'>();
export const runIdSchema = opaque.brand<'RunId'>();
export const generationIdSchema = opaque.brand<'GenerationId'>();
export const scopeIdSchema = opaque.brand<'ScopeId'>();
export const sessionIdSchema = opaque.brand<'SessionId'>();
export const repoIdSchema = opaque.brand<'RepoId'>();
export const nodeIdSchema = opaque.brand<'NodeId'>();
export const claimIdSchema = opaque.brand<'ClaimId'>();
export const installationIdSchema = opaque.brand<'InstallationId'>();
export const incarnationIdSchema = opaque.brand<'IncarnationId'>();
export const registrationIdSchema = opaque.brand<'RegistrationId'>();
/** One state directory on one machine: what a daemon serves, whichever daemon it is. */
export const runtimeIdSchema = opaque.brand<'RuntimeId'>();

export type GoalId = z.infer<typeof goalIdSchema>;
export type RunId = z.infer<typeof runIdSchema>;
export type GenerationId = z.infer<typeof generationIdSchema>;
export type ScopeId = z.infer<typeof scopeIdSchema>;
export type SessionId = z.infer<typeof sessionIdSchema>;
export type RepoId = z.infer<typeof repoIdSchema>;
export type NodeId = z.infer<typeof nodeIdSchema>;
export type ClaimId = z.infer<typeof claimIdSchema>;
export type InstallationId = z.infer<typeof installationIdSchema>;
export type IncarnationId = z.infer<typeof incarnationIdSchema>;
export type RegistrationId = z.infer<typeof registrationIdSchema>;
export type RuntimeId = z.infer<typeof runtimeIdSchema>;

export const actorKinds = [
  'goal',
  'run',
  'worktreeGeneration',
  'executionScope',
  'ptySession',
  'workerIncarnation',
  'recoveryFence',
] as const;
export type ActorKind = (typeof actorKinds)[number];

export interface ActorAddress {
  readonly kind: ActorKind;
  readonly id: string;
}
