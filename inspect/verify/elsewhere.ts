/** Invariants that speak of the host, of signals or of bundles and not of the charts: where each of them is tested instead. */
export const testedElsewhere: Readonly<Record<string, string>> = {
  'I-29': 'test/machines/identity.test.ts, test/guardian/ and the rule on signals in test/architecture/',
  'I-30': 'test/daemon/drain.test.ts and test/daemon/shutdown.test.ts',
  'I-35': 'test/host/outcomes.test.ts and test/daemon/requestIds.test.ts',
  'I-37': 'test/host/outcomes.test.ts and test/machines/runContext.test.ts',
  'I-40': 'test/machines/definitions.test.ts (planes); bundles are not written yet',
  'I-41': 'test/daemon/missingRecords.test.ts',
};
