import { productionScripts } from '../project.ts';
import { finding, type Rule } from '../rule.ts';
import { child, children, nameOf, nodesOfType } from '../syntax.ts';

const commands = 'actors/daemon/commands/';

/** Who says what of a worktree generation. A fact that a second module wants to state has an owner: ask it. */
const writers: Readonly<Record<string, readonly string[]>> = {
  // What Custody makes is registered and granted at its birth; what exists is registered by whoever comes across it.
  'generation.registered': [`${commands}worktreeCreation.ts`, 'actors/runtime/generations.ts'],
  'authority.granted': [`${commands}worktreeCreation.ts`, `${commands}worktreeAuthority.ts`],
  'authority.migrated': [`${commands}worktreeAuthority.ts`],
  'authority.handoffRequested': [`${commands}worktreeAuthority.ts`],
  'authority.handoffAbandoned': [`${commands}worktreeAuthority.ts`],
  // The chart's own relay alone says that it is complete.
  'authority.handedOff': [],
  'path.observed': ['actors/runtime/generations.ts'],
  'run.admitted': ['actors/daemon/launch/reservation.ts'],
  'admission.closed': [`${commands}worktrees.ts`],
  'seal.requested': [`${commands}worktrees.ts`],
  'retirement.receiptVerified': [`${commands}worktreeRetirement.ts`],
  'quarantine.recorded': [`${commands}assumeEnded.ts`],
  'contract.verified': ['actors/daemon/contract/record.ts'],
};

const drafters = new Set(['draft', 'said']);

const oneWriter: Rule = {
  name: 'each fact about a worktree generation is stated by the module that owns it (WT-08, I-20)',
  check(files) {
    return productionScripts(files)
      .filter((file) => !file.path.startsWith('machines/'))
      .flatMap((file) =>
        nodesOfType(file, 'CallExpression').flatMap((call) => {
          if (!drafters.has(nameOf(child(call, 'callee')) ?? '')) return [];
          const owners = writers[nameOf(children(call, 'arguments')[0]) ?? ''];
          if (owners === undefined || owners.includes(file.path)) return [];
          return [finding(file, call, `this is stated by ${owners.join(' and ') || 'the chart alone'}`)];
        }),
      );
  },
  caught: [
    { 'actors/daemon/commands/goals.ts': "draft('seal.requested', { to, payload, by });" },
    { 'actors/daemon/services/handoff.ts': "host.submit([draft('authority.handedOff', { to, payload, by })]);" },
    { 'actors/runtime/generations.ts': "draft('authority.granted', { to, payload, by });" },
    { 'actors/daemon/commands/worktrees.ts': "said('authority.migrated', change, payload);" },
  ],
  allowed: [
    {
      'actors/daemon/commands/worktrees.ts': "draft('seal.requested', { to, payload, by }); draft('goal.queued', {});",
      'actors/daemon/services/records.ts': "const told = new Set(['authority.granted']);",
    },
  ],
};

export const writerRules: readonly Rule[] = [oneWriter];
