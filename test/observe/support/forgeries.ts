import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { receiptChecks } from '../../../actors/observe/receipts/checks.ts';
import type { ReceiptExpectation } from '../../../actors/observe/receipts/expectation.ts';
import { type FileFacts, type ReceiptFiles, receiptFiles } from '../../../actors/observe/receipts/files.ts';
import { readReceipt } from '../../../actors/observe/receipts/read.ts';
import type { ReceiptKind } from '../../../pty/guardian/receipt.ts';
import { isRoot } from './remote.ts';
import { honest, receiptText, type ScopeDirectory } from './scopeDirectory.ts';

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

export interface Attempt {
  kind: ReceiptKind;
  scopeDir: string;
  expected: ReceiptExpectation;
  files: ReceiptFiles;
}

/** The honest attempt, which a forgery then changes. */
export function attempt(scope: ScopeDirectory, kind: ReceiptKind = 'exit'): Attempt {
  return { kind, scopeDir: scope.path, expected: expectation(scope, kind), files: receiptFiles };
}

export function read({ kind, scopeDir, expected, files }: Attempt, without?: string) {
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
export function overwrite(scope: ScopeDirectory, kind: ReceiptKind, content: object | string | Buffer): void {
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
export type Forgery = readonly [name: string, reason: string, forge: Forge];

const { guardian, workload } = honest.exit;

/** Each of these fails one check of the list and no other. */
export const forgeries: readonly Forgery[] = [
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
export const garbage: readonly Forgery[] = [
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
