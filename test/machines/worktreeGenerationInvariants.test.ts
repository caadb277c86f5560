import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GenerationSnapshot, sealBlockersOf } from '../../machines/worktreeGeneration.ts';
import { ownController } from '../../machines/worktreeGenerationBlockers.ts';
import { type Offered, offer, play, plots, sealed } from './support/generationStory.ts';
import { leavesOf } from './support/nodes.ts';

const order = ['open', 'closing', 'sealed', 'retired'];
const isQuarantined = ({ value }: GenerationSnapshot): boolean => value.lifecycle === 'quarantined';

/** What an onlooker would know who saw the accepted events and never looked into the record. */
class Onlooker {
  readonly runs = new Map<unknown, string>();
  readonly scopes = new Map<unknown, { readonly run: unknown; readonly guardian: unknown; isProved: boolean }>();
  readonly gaps = new Set<unknown>();
  readonly contracts = new Set<unknown>();

  watch({ type, payload, change }: Offered): void {
    if (change === 'unmatched') return;
    const { runId, scopeId, guardianDigest, gapId } = payload;
    const scope = this.scopes.get(scopeId);
    if (type === 'run.admitted') this.runs.set(runId, 'active');
    if (type === 'run.settled' && this.runs.get(runId) === 'active') this.runs.set(runId, String(payload.terminal));
    if (type === 'scope.opened') this.scopes.set(scopeId, { run: runId, guardian: guardianDigest, isProved: false });
    if (type === 'scope.settled' && scope) scope.isProved = true;
    if (type === 'coverage.gapRecorded') this.gaps.add(gapId);
    if (type === 'coverage.gapClosed') this.gaps.delete(gapId);
    if (type === 'contract.verified') this.contracts.add(guardianDigest);
  }

  isQuiet(): boolean {
    const scopes = [...this.scopes.values()];
    const isRunQuiet = ([runId, state]: [unknown, string]) =>
      state === 'cancelled' || (state === 'ended' && scopes.some(({ run }) => run === runId));
    const isScopeQuiet = ({ isProved, guardian }: { isProved: boolean; guardian: unknown }) =>
      isProved && this.contracts.has(guardian);
    return (
      [...this.runs].every(isRunQuiet) && scopes.every(isScopeQuiet) && this.gaps.size === 0 && this.contracts.size > 0
    );
  }
}

function always(check: (offered: Offered, onlooker: Onlooker) => void, numRuns = 50): void {
  fc.assert(
    fc.property(plots, (plot) => {
      const onlooker = new Onlooker();
      play(plot, (offered) => {
        onlooker.watch(offered);
        check(offered, onlooker);
      });
    }),
    { numRuns },
  );
}

describe('in every story', () => {
  it('has stories that come everywhere, so that what holds in them says something', () => {
    const reached = new Set<string>();
    for (const plot of fc.sample(plots, { numRuns: 100, seed: 7 })) {
      play(plot, ({ snapshot }) => {
        for (const leaf of leavesOf(snapshot.value)) reached.add(leaf);
      });
    }
    expect(reached.size).toBe(8);
  });

  it('I-22 WT-04: a sealed generation had nobody left who could write, for all that was ever admitted', () => {
    always(({ before, snapshot }, onlooker) => {
      if (before.value.lifecycle === 'closing' && snapshot.value.lifecycle === 'sealed')
        expect(onlooker.isQuiet()).toBe(true);
    });
  });

  it('L-05 WT-04: a closing, managed generation with nobody left accepts the next request', () => {
    always(({ snapshot }, onlooker) => {
      if (snapshot.value.lifecycle !== 'closing' || snapshot.value.authority !== 'managed') return;
      expect(offer(snapshot, ...sealed).change === 'changed').toBe(onlooker.isQuiet());
    });
  });

  it('WT-04: the list of blockers is empty exactly when the request would be accepted', () => {
    always(({ snapshot }) => {
      const blockers = sealBlockersOf(snapshot);
      expect(offer(snapshot, ...sealed).change === 'changed').toBe(blockers.length === 0);
      expect(blockers.every(({ detail }) => detail.length > 0)).toBe(true);
    });
  });

  it('I-23 WT-02: the lifecycle goes one way, but for the seal that ends with control, and nobody is admitted after closing', () => {
    always(({ before, snapshot, type }) => {
      const [from, to] = [order.indexOf(before.value.lifecycle), order.indexOf(snapshot.value.lifecycle)];
      if (isQuarantined(snapshot)) {
        expect(snapshot.context.ownershipEpoch).toBe(before.context.ownershipEpoch);
        return;
      }
      const isGivenAway = before.value.authority === 'quiescing' && snapshot.value.authority === 'observe';
      if (isGivenAway && before.value.lifecycle === 'sealed') expect(snapshot.value.lifecycle).toBe('closing');
      else expect([from, from + 1]).toContain(to);
      if (from > 0) expect(snapshot.context.ownershipEpoch).toBe(before.context.ownershipEpoch);
      if (type.startsWith('run.') || type.startsWith('scope.')) expect(to).toBe(from);
    });
  });

  it('WT-04 GRD-10: what was put aside stays so for good, never sealed and never given back', () => {
    always(({ before, snapshot, type }) => {
      if (isQuarantined(before)) {
        expect(isQuarantined(snapshot)).toBe(true);
        expect(snapshot.context.path).toBe(before.context.quarantine?.to);
        expect(snapshot.context.sealEpoch).toBe(0);
      } else if (isQuarantined(snapshot)) {
        expect(type).toBe('quarantine.recorded');
        expect(['open', 'closing']).toContain(before.value.lifecycle);
      }
    });
  });

  it('I-23 WT-05: retired means a verified receipt for that very seal', () => {
    always(({ before, snapshot, type, payload }) => {
      const isRetirement = before.value.lifecycle !== 'retired' && snapshot.value.lifecycle === 'retired';
      if (!isRetirement) return;
      expect(type).toBe('retirement.receiptVerified');
      expect(payload).toMatchObject({ verified: true, sealEpoch: before.context.sealEpoch });
    });
  });

  it('I-20 PROMO-01: one controller, ours exactly while authority is held; every change has its own epoch', () => {
    always(({ before, snapshot }) => {
      const { controller, authorityEpoch } = snapshot.context;
      if (snapshot.value.authority !== 'observe') expect(controller).toBe(ownController);
      else if (authorityEpoch > 1) expect(controller).not.toBe(ownController);
      if (controller !== before.context.controller) expect(authorityEpoch).toBe(before.context.authorityEpoch + 1);
      expect(authorityEpoch).toBeGreaterThanOrEqual(before.context.authorityEpoch);
    });
  });

  it('I-21 WT-06: a generation that is only observed changes neither lifecycle nor admissions, and asks for nothing', () => {
    always(({ before, snapshot, effects }) => {
      expect(effects).toEqual([]);
      if (before.value.authority !== 'observe') return;
      expect(snapshot.value.lifecycle).toBe(before.value.lifecycle);
      expect(Object.keys(snapshot.context.admitted)).toEqual(Object.keys(before.context.admitted));
    });
  });

  it('BIND-02 I-06: ownership epochs strictly increase and are never used twice, also across changes of authority', () => {
    always(({ before, snapshot, type, change }) => {
      const epochs = Object.values(snapshot.context.admitted).map(({ epoch }) => epoch);
      expect(new Set(epochs).size).toBe(epochs.length);
      const isAdmission = type === 'run.admitted' && change === 'changed';
      expect(snapshot.context.ownershipEpoch).toBe(before.context.ownershipEpoch + (isAdmission ? 1 : 0));
      if (isAdmission) expect(Math.max(...epochs)).toBe(snapshot.context.ownershipEpoch);
    });
  });

  it('WT-02 BIND-04: what was proved or ended stays so, and nothing that was tracked is forgotten', () => {
    always(({ before, snapshot }) => {
      for (const [runId, was] of Object.entries(before.context.admitted)) {
        const is = snapshot.context.admitted[runId];
        expect(is?.epoch).toBe(was.epoch);
        if (was.run !== 'active') expect(is?.run).toBe(was.run);
        for (const [scopeId, state] of Object.entries(was.scopes))
          if (state === 'proved' || !is?.scopes[scopeId]) expect(is?.scopes[scopeId]).toBe('proved');
      }
    });
  });
});
