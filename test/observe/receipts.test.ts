import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { receiptChecks } from '../../actors/observe/receipts/checks.ts';
import type { ReceiptExpectation } from '../../actors/observe/receipts/expectation.ts';
import { type AuthenticReading, receiptFacts } from '../../actors/observe/receipts/facts.ts';
import { type FileFacts, type ReceiptFiles, receiptFiles } from '../../actors/observe/receipts/files.ts';
import { readReceipt } from '../../actors/observe/receipts/read.ts';
import { ScopeReceipts } from '../../actors/observe/receipts/scope.ts';
import { payloadSchemas } from '../../machines/events/catalogue.ts';
import type { ReceiptKind } from '../../pty/guardian/receipt.ts';
import { isRoot } from './support/remote.ts';
import { honest, kinds, makeScopeDirectory, receiptText, type ScopeDirectory } from './support/scopeDirectory.ts';

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

/** What is known about one receipt when all earlier ones have been read. */
function expectation(scope: ScopeDirectory, kind: ReceiptKind): ReceiptExpectation {
  const { scopeDir: _, slots, ...rest } = scope.expected;
  return {
    ...rest,
    slot: slots[kind],
    nonceHash: slots[kind].nonceHash,
    start: kind === 'start' ? undefined : honest.start,
    status: kind === 'exit' ? honest.status : undefined,
    now: { bootId: honest.exit.boot, boottimeMs: 60_000 },
  };
}

interface Attempt {
  kind: ReceiptKind;
  scopeDir: string;
  expected: ReceiptExpectation;
  files: ReceiptFiles;
}

/** The honest attempt, which a forgery then changes. */
function attempt(scope: ScopeDirectory, kind: ReceiptKind = 'exit'): Attempt {
  return { kind, scopeDir: scope.path, expected: expectation(scope, kind), files: receiptFiles };
}

function read({ kind, scopeDir, expected, files }: Attempt, without?: string) {
  const checks = receiptChecks.filter(({ reason }) => reason !== without);
  const reading = readReceipt({ scopeDir, kind, expected }, { checks, files });
  return reading.status === 'not_authentic' ? reading.reason : reading.status;
}

/** Pretends that stat(2) says something else about what is opened as a directory or as a file. */
function pretending(type: 'directory' | 'file', change: Partial<FileFacts>): ReceiptFiles {
  return {
    ...receiptFiles,
    facts: (fd) => {
      const facts = receiptFiles.facts(fd);
      return facts.type === type ? { ...facts, ...change } : facts;
    },
  };
}

/** Writes over the published file, inode and all other facts unchanged. */
function overwrite(scope: ScopeDirectory, kind: ReceiptKind, content: object | string | Buffer): void {
  const bytes = typeof content === 'string' || Buffer.isBuffer(content) ? content : receiptText(content);
  writeFileSync(scope.file(kind), bytes, { flag: 'r+' });
}

function rewrite(change: object, kind: ReceiptKind = 'exit') {
  return (scope: ScopeDirectory, one: Attempt): void => {
    one.kind = kind;
    one.expected = expectation(scope, kind);
    overwrite(scope, kind, { ...honest[kind], ...change });
  };
}

function expecting(change: (expected: ReceiptExpectation) => Partial<ReceiptExpectation>) {
  return (_: ScopeDirectory, one: Attempt): void => {
    one.expected = { ...one.expected, ...change(one.expected) };
  };
}

type Forge = (scope: ScopeDirectory, attempt: Attempt) => void;
type Forgery = readonly [name: string, reason: string, forge: Forge];

const { guardian, workload } = honest.exit;

/** Each of these fails one check of the list and no other. */
const forgeries: readonly Forgery[] = [
  [
    'case 34: the directory is a link to the right one',
    'directory_symlink',
    (scope, one) => {
      symlinkSync(scope.path, `${scope.path}-link`);
      one.scopeDir = `${scope.path}-link`;
    },
  ],
  [
    'case 34: the receipt is a link to the right file',
    'symlink',
    (scope) => {
      renameSync(scope.file('exit'), join(scope.path, 'elsewhere'));
      symlinkSync('elsewhere', scope.file('exit'));
    },
  ],
  [
    'the directory belongs to somebody else',
    'directory_owner',
    (scope, one) => {
      if (isRoot) chownSync(scope.path, 1, 1);
      else one.files = pretending('directory', { uid: 1 });
    },
  ],
  ['the directory can be read by everybody', 'directory_mode', (scope) => chmodSync(scope.path, 0o755)],
  ['the directory can be written by the group', 'directory_mode', (scope) => chmodSync(scope.path, 0o720)],
  [
    'what was opened is no regular file',
    'not_regular',
    (_, one) => {
      one.files = pretending('file', { type: 'other' });
    },
  ],
  [
    'case 29: another file with the very bytes',
    'wrong_inode',
    (scope) => {
      copyFileSync(scope.file('exit'), join(scope.path, 'copy'));
      renameSync(join(scope.path, 'copy'), scope.file('exit'));
    },
  ],
  ['the inode number of another device', 'wrong_inode', expecting(({ slot }) => ({ slot: { ...slot, dev: '1' } }))],
  [
    'case 35: a second name for the file',
    'hard_linked',
    (scope) => {
      linkSync(scope.file('exit'), join(scope.path, 'second'));
    },
  ],
  [
    'the file belongs to somebody else',
    'wrong_owner',
    (scope, one) => {
      if (isRoot) chownSync(scope.file('exit'), 1, 1);
      else one.files = pretending('file', { uid: 1 });
    },
  ],
  ['the file can be read by everybody', 'wrong_mode', (scope) => chmodSync(scope.file('exit'), 0o644)],
  ['the file has a set-user-id bit', 'wrong_mode', (scope) => chmodSync(scope.file('exit'), 0o4600)],
  ['bytes behind the receipt', 'wrong_size', (scope) => appendFileSync(scope.file('exit'), ' ')],
  [
    'another receipt behind the receipt',
    'wrong_size',
    (scope) => appendFileSync(scope.file('exit'), receiptText(honest.exit)),
  ],
  [
    'another file gets the name while this one is read',
    'replaced_while_read',
    (scope, one) => {
      one.files = {
        ...receiptFiles,
        read: (fd, into) => {
          const length = receiptFiles.read(fd, into);
          copyFileSync(scope.file('exit'), join(scope.path, 'copy'));
          renameSync(join(scope.path, 'copy'), scope.file('exit'));
          return length;
        },
      };
    },
  ],
  ['a receipt of another scope', 'wrong_scope', rewrite({ scope: 'Sother' })],
  ['case 32: another nonce', 'wrong_nonce', rewrite({ nonce: 'd'.repeat(32) })],
  ['case 32: the nonce of another kind', 'wrong_nonce', rewrite({ nonce: honest.status.nonce })],
  ['another installation', 'wrong_installation', rewrite({ installation: 'Iother' })],
  ['another user', 'wrong_uid', rewrite({ uid: honest.exit.uid + 1 })],
  ['case 33: another boot', 'wrong_boot', rewrite({ boot: '99999999-751e-42c2-93f5-c7f9c82edc70' })],
  [
    'case 33: a boot that differs from the start receipt alone',
    'wrong_boot',
    (scope, one) => {
      rewrite({ boot: '99999999-751e-42c2-93f5-c7f9c82edc70' })(scope, one);
      one.expected = { ...one.expected, bootId: undefined };
    },
  ],
  ['another PID namespace', 'wrong_pid_namespace', rewrite({ pidns: '1' })],
  ['another time namespace', 'wrong_time_namespace', rewrite({ timens: '1' })],
  [
    'no handshake on record and no start receipt',
    'identities_unknown',
    expecting(() => ({
      guardian: undefined,
      workload: undefined,
      start: undefined,
    })),
  ],
  ['another guardian pid', 'wrong_guardian', expecting(() => ({ guardian: { ...guardian, pid: 9 } }))],
  ['another guardian start', 'wrong_guardian', expecting(() => ({ guardian: { ...guardian, start: '9' } }))],
  ['another guardian pidfs inode', 'wrong_guardian', expecting(() => ({ guardian: { ...guardian, pidfs: '9' } }))],
  [
    'a guardian pidfs inode on one side only',
    'wrong_guardian',
    expecting(() => ({ guardian: { ...guardian, pidfs: null } })),
  ],
  ['another workload pid', 'wrong_workload', expecting(() => ({ workload: { ...workload, pid: 9 } }))],
  ['another workload start', 'wrong_workload', expecting(() => ({ workload: { ...workload, start: '9' } }))],
  ['another workload pidfs inode', 'wrong_workload', expecting(() => ({ workload: { ...workload, pidfs: '9' } }))],
  [
    'another guardian than in the start receipt',
    'start_differs',
    expecting(({ start }) => ({
      start: { ...start!, guardian: { ...guardian, pid: 9 } },
    })),
  ],
  [
    'another workload than in the start receipt',
    'start_differs',
    expecting(({ start }) => ({
      start: { ...start!, workload: { ...workload, start: '9' } },
    })),
  ],
  [
    'an enclosing scope that was not asked for',
    'wrong_enclosing_scope',
    rewrite({ enclosing: { scope: 'Souter', guardian } }),
  ],
  [
    'no enclosing scope where one was asked for',
    'wrong_enclosing_scope',
    expecting(() => ({ enclosingScopeId: 'Souter' })),
  ],
  ['more adopted than reaped', 'impossible_counts', rewrite({ reaped: 1, adopted: 1 })],
  ['an exit without a status', 'status_missing', expecting(() => ({ status: undefined }))],
  ['another end than in the status receipt', 'status_differs', rewrite({ code: 0, waitStatus: 0 })],
  [
    'a signal where the status receipt has a code',
    'status_differs',
    rewrite({
      how: 'signaled',
      code: null,
      signal: 9,
      waitStatus: 9,
    }),
  ],
  ['an exit from before the status', 'out_of_order', rewrite({ atNs: '1999' })],
  ['a status from before the start', 'out_of_order', rewrite({ atNs: '999' }, 'status')],
  [
    'an exit from before the start',
    'out_of_order',
    (scope, one) => {
      rewrite({ atNs: '999' })(scope, one);
      const { atNs: _, ...status } = honest.status;
      one.expected = { ...one.expected, status };
    },
  ],
  ['a receipt from tomorrow', 'from_the_future', rewrite({ atNs: String(86_400_000_000_000) })],
];

const spoil =
  (change: (text: string) => string | Buffer, kind: ReceiptKind = 'exit') =>
  (scope: ScopeDirectory, one: Attempt) => {
    one.kind = kind;
    one.expected = expectation(scope, kind);
    overwrite(scope, kind, change(receiptText(honest[kind])));
  };
const padded = (text: string) => `${text.padEnd(4_095, ' ')}\n`;

/** These are no receipts at all: there is nothing to leave out, the reading itself fails. */
const garbage: readonly Forgery[] = [
  ['case 31: torn after 100 bytes', 'wrong_size', (scope) => truncateSync(scope.file('exit'), 100)],
  ['emptied', 'wrong_size', (scope) => truncateSync(scope.file('exit'), 0)],
  ['a slot that was renamed and never written', 'not_terminated', spoil(() => Buffer.alloc(4_096))],
  ['without its line feed', 'not_terminated', spoil((text) => `${text.slice(0, -1)} `)],
  ['zeros behind the first half', 'not_terminated', spoil((text) => text.slice(0, 200).padEnd(4_096, '\0'))],
  [
    'bytes that are no UTF-8',
    'not_utf8',
    spoil((text) => Buffer.from(text.replace('Sscope', '\xff\xfecope'), 'latin1')),
  ],
  ['a second line', 'not_json', spoil((text) => padded(`${text.trimEnd()}\n{}`))],
  ['an object cut short', 'not_json', spoil((text) => padded(text.slice(0, 300)))],
  ['a list', 'unknown_version', spoil(() => padded('[]'))],
  ['null', 'wrong_fields', spoil(() => padded('null'))],
  ['a version that we do not know', 'unknown_version', rewrite({ v: 2 })],
  ['no version', 'unknown_version', rewrite({ v: undefined })],
  ['a status under the name of an exit', 'wrong_kind', rewrite(honest.status)],
  ['another claim', 'wrong_fields', rewrite({ claim: 'nobody-writes' })],
  ['another proof', 'wrong_fields', rewrite({ proof: 'timeout' })],
  ['a field too many', 'wrong_fields', rewrite({ note: 'trust me' })],
  ['a field missing', 'wrong_fields', rewrite({ lostNested: undefined })],
  ['a negative count', 'wrong_fields', rewrite({ adopted: -1 })],
  ['a pid as text', 'wrong_fields', rewrite({ guardian: { ...guardian, pid: '500' } })],
  ['a code that its wait status contradicts', 'wrong_fields', rewrite({ code: 0 })],
  [
    'a key twice',
    'not_canonical',
    spoil((text) => padded(text.trimEnd().replace('"reaped":2', '"reaped":9,"reaped":2'))),
  ],
  [
    'keys in another order',
    'not_canonical',
    spoil((text) => padded(text.trimEnd().replace('"v":1,"kind":"exit"', '"kind":"exit","v":1'))),
  ],
  ['blanks inside', 'not_canonical', spoil((text) => padded(text.trimEnd().replace('"v":1', '"v": 1')))],
  [
    'a second spelling of a letter',
    'not_canonical',
    spoil((text) => padded(text.trimEnd().replace('Sscope', '\\u0053scope'))),
  ],
  ['tabs for padding', 'not_canonical', spoil((text) => `${text.trimEnd().padEnd(4_095, '\t')}\n`)],
];

describe('GRD-05: a receipt is believed when everything about it holds', () => {
  it.each(kinds)('an honest %s receipt is authentic', (kind) => {
    expect(read(attempt(published(), kind))).toBe('authentic');
  });

  it('an absent receipt is absent, and so is one whose directory is gone', () => {
    const scope = makeScopeDirectory();
    open.push(scope);
    const { kind, scopeDir, expected } = attempt(scope);
    expect(readReceipt({ kind, scopeDir, expected })).toEqual({ status: 'absent', missing: 'receipt' });
    rmSync(scopeDir, { recursive: true });
    expect(readReceipt({ kind, scopeDir, expected })).toEqual({ status: 'absent', missing: 'directory' });
  });

  it.each(forgeries)('%s: %s', (_, reason, forge) => {
    const scope = published();
    const one = attempt(scope);
    forge(scope, one);
    expect(read(one)).toBe(reason);
  });

  it.each(forgeries)('%s: would be believed without the check %s', (_, reason, forge) => {
    const scope = published();
    const one = attempt(scope);
    forge(scope, one);
    expect(read(one, reason)).toBe('authentic');
  });

  it.each(garbage)('%s: %s', (_, reason, forge) => {
    const scope = published();
    const one = attempt(scope);
    forge(scope, one);
    expect(read(one)).toBe(reason);
  });

  it('every check of the list has a forgery of its own', () => {
    const covered = new Set(forgeries.map(([, reason]) => reason));
    expect(receiptChecks.map(({ reason }) => reason).filter((reason) => !covered.has(reason))).toEqual([]);
    expect(new Set(receiptChecks.map(({ reason }) => reason)).size).toBe(receiptChecks.length);
    expect(forgeries.length + garbage.length).toBeGreaterThanOrEqual(33);
  });

  it('a fifo, a directory and a socket under the name neither block nor pass', () => {
    const replace = (make: (path: string) => void) => {
      const scope = published();
      unlinkSync(scope.file('exit'));
      make(scope.file('exit'));
      return read(attempt(scope));
    };
    expect(replace((path) => execFileSync('mkfifo', ['-m', '600', path]))).toBe('not_regular');
    expect(replace((path) => mkdirSync(path, 0o600))).toBe('not_regular');
    expect(replace((path) => symlinkSync('/dev/zero', path))).toBe('symlink');
  });

  it('a file where the directory should be is refused', () => {
    const scope = published();
    rmSync(scope.path, { recursive: true });
    writeFileSync(scope.path, '');
    expect(read(attempt(scope))).toBe('directory_symlink');
  });

  it('an errno that says nothing about the receipt is named', () => {
    const failing = (errno: string): ReceiptFiles => ({
      ...receiptFiles,
      open: () => {
        throw Object.assign(new Error(errno), { code: errno });
      },
    });
    const scope = published();
    expect(read({ ...attempt(scope), files: failing('EMFILE') })).toBe('unreadable_emfile');
    expect(read({ ...attempt(scope), files: failing('EACCES') })).toBe('unreadable_eacces');
  });

  it('ruling 8: fields that nobody recorded are not compared', () => {
    const scope = published();
    const one = attempt(scope);
    const { scopeId, slot, nonceHash, installationId, uid, start, status } = one.expected;
    one.expected = { scopeId, slot, nonceHash, installationId, uid, start, status };
    expect(read(one)).toBe('authentic');
  });
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
