/** What work hears when it says something of itself. */
import type { CallResults } from '../../actors/daemon/api/results.ts';
import { line } from './escape.ts';

export const reportedLines = ({ sessionId, digest }: CallResults['agent.result']): string[] => [
  line`${sessionId} has reported a result, sha256 ${digest}`,
];

export const boundaryLines = (view: CallResults['agent.boundary']): string[] => [
  line`${view.goalId} is ${view.status}, round ${view.round}, occurrence ${view.occurrence}: go on`,
];
