/** The invariants of the protocol in a sentence each, with the machines that they are about. */
import type { ActorKind } from '../../machines/ids.ts';
import { actorKinds } from '../../machines/ids.ts';

export interface Invariant {
  readonly id: string;
  readonly sentence: string;
  readonly machines: readonly ActorKind[];
}

const about = (id: string, machines: readonly ActorKind[], sentence: string): Invariant => ({ id, machines, sentence });

export const invariants: readonly Invariant[] = [
  about('I-01', ['run'], 'A run that has ended stays so, and is never bound again.'),
  about('I-02', ['run'], 'When a run has ended, its recorded process does not exist.'),
  about('I-03', ['run'], 'No step leads from a reserved run straight to an ended one.'),
  about('I-04', ['run', 'executionScope'], 'Of what is cancelled or was never launched, the image never ran.'),
  about(
    'I-05',
    ['goal'],
    'Occurrence and boundary only grow, the boundary is never ahead, and each step has a number of its own.',
  ),
  about(
    'I-06',
    ['run', 'worktreeGeneration'],
    'A process belongs to one run at most, a run to one worktree at most, and epochs only grow.',
  ),
  about('I-07', ['goal'], 'Only a decision of somebody, a new Round or a cancellation leads out of a failed Goal.'),
  about('I-08', ['goal'], 'A worker that began with another occurrence, step, node or Round moves nothing.'),
  about('I-09', ['goal'], 'While two decisions contradict each other, no automation moves the workflow.'),
  about('I-10', ['goal'], 'A Goal that is done or cancelled stays so.'),
  about(
    'I-11',
    ['goal'],
    'Integration begins only from a lease of the present occurrence, and never after a cancellation.',
  ),
  about(
    'I-12',
    ['goal'],
    'After a cancellation nothing new is published, what was begun is recorded, and nothing is reverted.',
  ),
  about('I-13', ['goal'], 'A Goal in review or done has its present candidate integrated and published.'),
  about('I-14', actorKinds, 'Time alone ends, proves, seals, retires or hands over nothing.'),
  about('I-15', ['executionScope'], 'When the exit of a scope is proved, no process of its tree lives.'),
  about(
    'I-16',
    ['executionScope'],
    'Without a guardian and without its receipt a scope is unverified until a proof comes.',
  ),
  about('I-17', ['executionScope'], 'Lost coverage is left only by a proof, or where the gate was never released.'),
  about(
    'I-18',
    ['executionScope', 'goal'],
    'Cleanup ends nothing that a present decision still wants, and cuts off no publication.',
  ),
  about(
    'I-19',
    ['executionScope'],
    'There are three proofs, one of them at most one level deep, and a proved scope stays proved.',
  ),
  about('I-20', ['worktreeGeneration'], 'Whatever is committed, somebody is in control of a worktree, and never two.'),
  about(
    'I-21',
    ['worktreeGeneration', 'executionScope'],
    'Where somebody else is in control, this program does nothing to processes or files.',
  ),
  about('I-22', ['worktreeGeneration'], 'A sealed worktree has nobody left who could write there.'),
  about(
    'I-23',
    ['worktreeGeneration'],
    'A worktree goes only forward from open to retired, but that handing control over ends a seal; it retires only with a receipt for its seal.',
  ),
  about(
    'I-24',
    ['recoveryFence', 'workerIncarnation'],
    'A worker is replaced only when everything of its predecessors is proved to be gone.',
  ),
  about('I-25', ['workerIncarnation'], 'A worker counts as healthy only by an exact tick of its own.'),
  about(
    'I-26',
    ['executionScope'],
    'A scope holds a slot of the capacity until it is released; effects, what others launched, residents alone and assumed ends hold none.',
  ),
  about(
    'I-27',
    ['executionScope', 'ptySession', 'worktreeGeneration'],
    'Nothing that an unreleased scope has left behind is deleted.',
  ),
  about('I-28', ['executionScope'], 'Witnesses of a tree are forgotten only with its proof.'),
  about('I-29', ['executionScope'], 'Every signal goes to one verified process that is no guardian.'),
  about('I-30', ['executionScope'], 'A drain counts as complete only when nothing owned is live or unverified.'),
  about('I-31', ['run', 'executionScope'], 'An observation that says nothing changes nothing.'),
  about('I-32', ['run'], 'What a launcher claims about an end moves no life.'),
  about('I-33', ['ptySession'], 'A result counts only with an authentic status and a valid schema.'),
  about('I-34', ['ptySession'], 'What went wrong first in a session stays its cause, whatever else goes wrong later.'),
  about('I-35', actorKinds, 'Each event is applied at most once.'),
  about('I-36', actorKinds, 'Every effect belongs to a committed event, and what may happen once only is tried once.'),
  about('I-37', ['run', 'executionScope'], 'A sample counts only for the version that it was taken for.'),
  about('I-38', ['executionScope', 'run'], 'No image runs before who it is stands in the journal.'),
  about(
    'I-39',
    ['executionScope'],
    'The end of a scope is settled exactly when its exit is proved or it was never launched.',
  ),
  about(
    'I-40',
    actorKinds,
    'What is local never leaves the machine, and what comes from others changes nothing local.',
  ),
  about('I-41', ['executionScope'], 'No lost list or cache makes an unreleased scope look released.'),
  about('I-42', ['goal'], 'No guard of a Goal asks for anything local.'),
];

export const invariantsOf = (kind: ActorKind): readonly Invariant[] =>
  invariants.filter(({ machines }) => machines.includes(kind));
