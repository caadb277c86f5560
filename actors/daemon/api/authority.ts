/**
 * Which commands an operator alone may ask for (ruling 24). Every one of the contract has its line here, or this does not
 * compile. The command line reads it too, so it loads nothing.
 */
import type { Grant } from '../../runtime/credentials.ts';
import type { CallName, StreamName } from './contract.ts';

/**
 * `anyone` who reaches the socket: what shows how the installation itself does and nothing of anybody's work, so that it
 * can be asked for when the very key is what is wrong; and the verbs of agents, which bring their token along. What shows
 * work (titles, output, screens) is the operator's, as is whatever changes anything. `grant` names the right of a session
 * that suffices as well.
 */
export type Audience = 'anyone' | 'operator' | { readonly grant: Grant };

const goals: Audience = { grant: 'goals' };
const sessions: Audience = { grant: 'sessions' };

export const audiences: { readonly [Name in CallName | StreamName]: Audience } = {
  status: 'anyone',
  doctor: 'anyone',
  config: 'anyone',
  'agent.result': 'anyone',
  'agent.needInput': 'anyone',
  'agent.boundary': 'anyone',
  'agent.goal': 'anyone',
  'goals.add': goals,
  'goals.list': goals,
  'goals.show': goals,
  'sessions.list': sessions,
  'sessions.show': sessions,
  'sessions.result': sessions,
  'sessions.send': sessions,
  'sessions.resize': sessions,
  'sessions.screen': sessions,
  'sessions.wait': sessions,
  'goals.queue': 'operator',
  'goals.cancel': 'operator',
  'repos.add': 'operator',
  'repos.list': 'operator',
  'worktrees.add': 'operator',
  'worktrees.list': 'operator',
  'worktrees.show': 'operator',
  'worktrees.close': 'operator',
  'worktrees.seal': 'operator',
  'worktrees.register': 'operator',
  'worktrees.authority': 'operator',
  'worktrees.ticket': 'operator',
  'worktrees.retire': 'operator',
  'worktrees.predict': 'operator',
  'runs.exec': 'operator',
  'runs.list': 'operator',
  'runs.show': 'operator',
  'runs.wait': 'operator',
  'runs.result': 'operator',
  'runs.stop': 'operator',
  'runs.logs': 'operator',
  processes: 'operator',
  events: 'operator',
  explain: 'operator',
  'events.follow': 'operator',
  backup: 'operator',
  'journal.checkpoint': 'operator',
  'journal.forgetIds': 'operator',
  'artifacts.retire': 'operator',
  'contract.verify': 'operator',
  'recover.assumeEnded': 'operator',
  pause: 'operator',
  recover: 'operator',
  resume: 'operator',
  drain: 'operator',
  'daemon.stop': 'operator',
  'observe.progress': 'operator',
  'observe.take': 'operator',
  'observe.account': 'operator',
  'observe.import': 'operator',
  'observe.takeSpool': 'operator',
  'observe.reconcile': 'operator',
  'observe.status': 'operator',
  'observe.coverage': 'operator',
  'observe.metrics': 'operator',
  'observe.exposition': 'operator',
  'promote.show': 'operator',
  'promote.to': 'operator',
  'promote.budgets': 'operator',
  'promote.measure': 'operator',
  'promote.setBudgets': 'operator',
  'promote.compare': 'operator',
  'promote.triage': 'operator',
  'acceptance.record': 'operator',
  'inspect.open': 'operator',
  'inspect.close': 'operator',
};

export const grantFor = (audience: Audience): Grant | undefined =>
  typeof audience === 'object' ? audience.grant : undefined;
