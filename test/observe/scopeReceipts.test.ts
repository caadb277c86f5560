import { unlinkSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { type AuthenticReading, receiptFacts } from '../../actors/observe/receipts/facts.ts';
import { type ReceiptFiles, receiptFiles } from '../../actors/observe/receipts/files.ts';
import { readReceipt } from '../../actors/observe/receipts/read.ts';
import { ScopeReceipts } from '../../actors/observe/receipts/scope.ts';
import { payloadSchemas } from '../../machines/events/catalogue.ts';
import { attempt, overwrite } from './support/forgeries.ts';
import { honest, kinds, makeScopeDirectory, type ScopeDirectory } from './support/scopeDirectory.ts';

const { guardian, workload } = honest.exit;
const open: ScopeDirectory[] = [];
function published(): ScopeDirectory {
  const scope = makeScopeDirectory();
  open.push(scope);
  scope.publishAll();
  return scope;
}
afterEach(() => {
  for (const scope of open.splice(0)) scope.close();
});

describe('the facts of a receipt', () => {
  it('are the payloads of their events', () => {
    const scope = published();
    const facts = kinds.map((kind) => {
      const { scopeDir, expected } = attempt(scope, kind);
      return receiptFacts(readReceipt({ scopeDir, kind, expected }) as AuthenticReading);
    });
    expect(facts[0]).toBeUndefined();
    for (const fact of facts.slice(1)) {
      expect(payloadSchemas[fact!.type].parse(fact!.payload)).toEqual(fact!.payload);
    }
    expect(facts[1]).toMatchObject({
      type: 'workload.statusReceipt',
      payload: {
        scopeId: 'Sscope',
        ino: scope.expected.slots.status.ino,
        how: 'exited',
        code: 7,
        authentic: true,
        workload,
      },
    });
    expect(facts[2]).toMatchObject({
      type: 'guardian.exitReceipt',
      payload: {
        ino: scope.expected.slots.exit.ino,
        complete: true,
        reaped: 2,
        adopted: 1,
        terminated: false,
        guardian,
      },
    });
  });
});

describe('the receipts of one scope', () => {
  it('are found in the order in which they were published, each once', () => {
    const scope = makeScopeDirectory();
    open.push(scope);
    const receipts = new ScopeReceipts(scope.expected);
    const found = () => receipts.look().authentic.map(({ receipt }) => receipt.kind);
    expect(found()).toEqual([]);
    scope.publish('start');
    expect(found()).toEqual(['start']);
    scope.publish('status');
    scope.publish('exit');
    expect([found(), receipts.complete]).toEqual([['status', 'exit'], true]);
    expect(found()).toEqual([]);
  });

  it('case 30: what was authentic once is not read again, whatever becomes of the file', () => {
    const scope = makeScopeDirectory();
    open.push(scope);
    const receipts = new ScopeReceipts(scope.expected);
    scope.publish('status');
    expect(receipts.look().authentic).toHaveLength(1);
    overwrite(scope, 'status', { ...honest.status, code: 0, waitStatus: 0 });
    scope.publish('exit');
    expect(receipts.look()).toMatchObject({ authentic: [{ receipt: { kind: 'exit', code: 7 } }], refused: [] });
  });

  it('case 25: without a handshake on record the start receipt says who is who', () => {
    const scope = published();
    const expected = { ...scope.expected, guardian: undefined, workload: undefined };
    expect(new ScopeReceipts(expected).look().authentic).toHaveLength(3);
    unlinkSync(scope.file('start'));
    expect(new ScopeReceipts(expected).look()).toMatchObject({
      authentic: [],
      refused: [
        { kind: 'status', reason: 'identities_unknown' },
        { kind: 'exit', reason: 'identities_unknown' },
      ],
    });
  });

  it('an exit receipt alone is refused, unless the status is on record', () => {
    const scope = published();
    unlinkSync(scope.file('status'));
    expect(new ScopeReceipts(scope.expected).look().refused).toEqual([{ kind: 'exit', reason: 'status_missing' }]);
    const { how, code, signal, errno, waitStatus } = honest.status;
    const recorded = new ScopeReceipts({ ...scope.expected, status: { how, code, signal, errno, waitStatus } });
    expect(recorded.look().authentic.map(({ receipt }) => receipt.kind)).toEqual(['start', 'exit']);
  });

  it('a status that is published while the exit is being read is found in the same look', () => {
    const scope = makeScopeDirectory();
    open.push(scope);
    let looks = 0;
    const late: ReceiptFiles = {
      ...receiptFiles,
      open: (path, options) => {
        if (path.endsWith('status.json')) {
          looks += 1;
          // Both appear just after the status was not found.
          if (looks === 1) {
            try {
              return receiptFiles.open(path, options);
            } finally {
              scope.publish('status');
              scope.publish('exit');
            }
          }
        }
        return receiptFiles.open(path, options);
      },
    };
    const findings = new ScopeReceipts(scope.expected, { files: late }).look();
    expect(findings.authentic.map(({ receipt }) => receipt.kind)).toEqual(['status', 'exit']);
    expect(findings.refused).toEqual([]);
  });
});
