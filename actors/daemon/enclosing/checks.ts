/**
 * Whether the exit receipt of an enclosing scope proves the end of a nested one whose guardian was lost (REPL-02). A list,
 * so that a test can leave out each check in turn and show that the evidence made for it would then be believed. Pure:
 * whoever asks has looked at everything before.
 */
import { createHash } from 'node:crypto';
import { assessOwnership } from '../../../machines/assessment.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import { sameProcess } from '../../../machines/identity.ts';
import type { WorkerContext } from '../../../machines/workerIncarnationContext.ts';
import {
  type ExitReceipt,
  parseReceipt,
  type ReceiptProcess,
  type StartReceipt,
} from '../../../pty/guardian/receipt.ts';

type Context = ScopeSnapshot['context'];

export interface EnclosingEvidence {
  readonly child: Context;
  readonly parent: ScopeSnapshot;
  /** The bytes of the parent's exit receipt as they were copied into the journal, and the digest that was recorded. */
  readonly receipt: { readonly text: string; readonly bytesDigest: string } | undefined;
  /** What the child's guardian wrote before anything ran; undefined where it is not there or not authentic. */
  readonly start: StartReceipt | undefined;
  /** Every worker that is on record as the root of the parent. */
  readonly launchers: readonly WorkerContext[];
  /** Sessions of either scope: a terminal may be held by others, and hangs up what it held. */
  readonly sessions: number;
  /** Parent's guardian, its root, the child's guardian, its root: whether they began in this order, as the adapter says. */
  readonly beganInOrder: boolean;
  /** Recorded processes of the child that are not known to have ended. */
  readonly survivors: number;
}

export interface EnclosingCheck {
  readonly reason: string;
  readonly holds: (evidence: EnclosingEvidence) => boolean;
}

/** In the order in which they are made; the first that fails names the refusal. */
export const enclosingChecks: readonly EnclosingCheck[] = [
  { reason: 'enclosing_unproved', holds: ({ parent }) => assessOwnership(parent).state === 'exited' },
  // Depth one: what was inferred proves nobody else (REPL-05). A boot that ended proves the child by itself.
  { reason: 'enclosing_inferred', holds: ({ parent }) => parent.context.proof?.kind === 'own_receipt' },
  { reason: 'receipt_not_original', holds: (evidence) => originalReceipt(evidence) !== undefined },
  // A guardian that leaves properly says so, and then its own receipt is there to be read.
  { reason: 'nobody_was_lost', holds: (evidence) => (originalReceipt(evidence)?.lostNested ?? 1) > 0 },
  { reason: 'terminal', holds: ({ sessions }) => sessions === 0 },
  { reason: 'not_enrolled_there', holds: isEnclosedHere },
  { reason: 'launcher_ambiguous', holds: ({ launchers }) => launchers.length === 1 },
  { reason: 'launcher_differs', holds: isLauncherTheRoot },
  {
    reason: 'other_boot',
    holds: ({ child, parent }) => child.bootId !== null && child.bootId === parent.context.bootId,
  },
  { reason: 'out_of_order', holds: ({ beganInOrder }) => beganInOrder },
  { reason: 'witness_conflict', holds: ({ child }) => child.witnessConflicts.length === 0 },
  { reason: 'witness_outside', holds: areWitnessesInside },
  { reason: 'survivor', holds: ({ survivors }) => survivors === 0 },
];

export const refusalOf = (evidence: EnclosingEvidence): string | undefined =>
  enclosingChecks.find(({ holds }) => !holds(evidence))?.reason;

/** The receipt in the journal, if its bytes are those that were accepted and speak of this very scope (REPL-08). */
function originalReceipt({ parent, receipt }: EnclosingEvidence): ExitReceipt | undefined {
  if (receipt === undefined) return undefined;
  const bytes = Buffer.from(`${receipt.text.padEnd(4_095)}\n`);
  if (createHash('sha256').update(bytes).digest('hex') !== receipt.bytesDigest) return undefined;
  const parsed = parseReceipt('exit', bytes);
  if (!parsed.ok) return undefined;
  const { scopeId, guardian, workload } = parent.context;
  const speaksOfIt =
    parsed.receipt.scope === scopeId &&
    isProcess(guardian, parsed.receipt.guardian) &&
    isProcess(workload, parsed.receipt.workload);
  return speaksOfIt ? parsed.receipt : undefined;
}

type Recorded = Context['guardian'];

const isProcess = (recorded: Recorded, named: ReceiptProcess): boolean =>
  recorded !== null &&
  recorded.pid === named.pid &&
  recorded.processToken === named.start &&
  (recorded.adapterEvidence === '' || recorded.adapterEvidence === (named.pidfs ?? ''));

/** The outer guardian let it enrol, having asked the kernel whether it is one of its descendants. */
function isEnclosedHere({ child, parent, start }: EnclosingEvidence): boolean {
  return (
    start?.enclosing?.scope === parent.context.scopeId &&
    child.parentScopeId === parent.context.scopeId &&
    isProcess(parent.context.guardian, start.enclosing.guardian) &&
    isProcess(child.guardian, start.guardian) &&
    isProcess(child.workload, start.workload)
  );
}

/** Nobody but the registered worker launches into its scope, and it is the root of it. */
function isLauncherTheRoot({ parent, launchers }: EnclosingEvidence): boolean {
  const { workload } = parent.context;
  const process = launchers[0]?.process ?? null;
  return workload !== null && process !== null && sameProcess(workload, process);
}

/** Guardian and root are where the enrolment says; whatever else somebody saw of the child has to be known there too. */
function areWitnessesInside({ child, parent }: EnclosingEvidence): boolean {
  const own = new Set([child.guardian, child.workload].map((one) => `${one?.pid} ${one?.processToken}`));
  return Object.entries(child.witnesses).every(
    ([pid, token]) => own.has(`${pid} ${token}`) || parent.context.witnesses[pid] === token,
  );
}
