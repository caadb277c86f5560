/** Gathers what stands for and against a repository's next stage at this moment. */
import { release } from 'node:os';
import { dirname } from 'node:path';
import type { Promotion, PromotionChange, PromotionUnit, Stage } from '../../../persistence/tables/promotions.ts';
import {
  type Acceptance,
  acceptanceOf,
  type ContractStanding,
  readinessOf,
  type Tried,
} from '../../promotion/acceptance.ts';
import { type Agreement, agreementOf } from '../../promotion/comparison.ts';
import { type GateDimension, type GateVerdict, gateDimensions, worst } from '../../promotion/gate.ts';
import { programDigest } from '../../promotion/programDigest.ts';
import type { StageEvidence } from '../../promotion/stages.ts';
import type { DaemonContext } from '../context.ts';
import { isContractCurrent, verifiedSubset } from '../contract/verify.ts';
import { stageOf, standingOf } from './units.ts';

export type GateContext = Pick<DaemonContext, 'host' | 'store' | 'guardian' | 'worker' | 'metrics' | 'clock'>;

export interface Gate extends StageEvidence {
  readonly verdict: GateVerdict;
  readonly acceptance: Acceptance;
  readonly agreement: Agreement;
}

/** What this daemon was started from. All programs of it lie beside each other. */
export function triedHere({ guardian, worker }: Pick<GateContext, 'guardian' | 'worker'>): Tried {
  return {
    programDigest: digestOf(dirname(worker.program)),
    kernel: release(),
    guardianDigest: guardian.digest,
  };
}

/** Read once: what this process executes does not change when its files do. */
const digests = new Map<string, string>();

function digestOf(directory: string): string {
  const known = digests.get(directory) ?? programDigest(directory);
  digests.set(directory, known);
  return known;
}

export function gateOf(context: GateContext, unit: PromotionUnit): Gate {
  const { store, metrics } = context;
  const budgets = store.budgets.list();
  const acceptance = acceptanceOf(store.acceptanceReports.newest(), triedHere(context));
  const contract = contractStanding(context);
  const standing = standingOf(context, unit.commonGitDir);
  const agreement = agreementIn(context, unit.unitId);
  const dimensions = gateDimensions({
    acceptance,
    metrics: metrics(),
    budgets,
    contract,
    openGaps: store.coverageGaps.count().open,
    damaged: standing.damaged,
    damagedMeasurement: store.damagedMeasurement(),
    agreement,
  });
  const verdict = worst(dimensions.map((one) => one.verdict));
  return {
    verdict,
    acceptance,
    agreement,
    standing,
    dimensions,
    budgets,
    readiness: readinessOf(acceptance, contract),
  };
}

export function contractStanding({ store, guardian }: Pick<GateContext, 'store' | 'guardian'>): ContractStanding {
  if (!isContractCurrent(store, guardian.digest)) return 'none';
  return verifiedSubset(store) === 'full' ? 'full' : 'short';
}

/** Comparing begins anew whenever the repository comes from tracking to it; what was compared before counts no more. */
export function comparingRound(changes: readonly PromotionChange[]): number {
  return changes.findLast(({ from, to }) => from === 'tracking' && to === 'comparing')?.version ?? 0;
}

function agreementIn({ store }: Pick<GateContext, 'store'>, unitId: string): Agreement {
  const round = comparingRound(store.promotions.changes(unitId));
  return agreementOf(store.comparisons.counts({ unitId, round }));
}

/** As it is kept, and cited by whoever takes control. */
export interface GateReport {
  readonly format: 'custody-gate/1';
  readonly unitId: string;
  readonly stage: Stage;
  readonly to: Stage;
  readonly verdict: GateVerdict;
  readonly dimensions: readonly GateDimension[];
  readonly readiness: StageEvidence['readiness'];
  /** Which acceptance report it rests on. */
  readonly acceptanceDigest: string | null;
  readonly program: string;
}

export function reportOf(
  context: GateContext,
  gate: Gate,
  of: { unit: PromotionUnit; known: Promotion | undefined; to: Stage },
): GateReport {
  const { verdict, dimensions, readiness, acceptance } = gate;
  return {
    format: 'custody-gate/1',
    unitId: of.unit.unitId,
    stage: stageOf(of.known),
    to: of.to,
    verdict,
    dimensions,
    readiness,
    acceptanceDigest: 'digest' in acceptance ? acceptance.digest : null,
    program: triedHere(context).programDigest,
  };
}
