/** What is planted everywhere occurs nowhere in a bug report, and whatever is broken is named in it. */
import { readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { writeArchive } from '../../../inspect/bugReport/archive.ts';
import { journalLines } from '../../../inspect/bugReport/journal.ts';
import { logTail } from '../../../inspect/bugReport/log.ts';
import { allowed, personal, redacted } from '../../../inspect/bugReport/redaction.ts';
import { json, run } from '../../cli/support/program.ts';
import { opened, over } from '../../daemon/support/terminals.ts';
import { type TestDaemon, testDaemon } from '../../support/daemon.ts';

async function unpacked(path: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const archive = extract();
  archive.end(gunzipSync(readFileSync(path)));
  for await (const entry of archive) files.set(entry.header.name.replace('custody-bug-report/', ''), await text(entry));
  return files;
}

const reportOf = (daemon: TestDaemon, ...words: readonly string[]) =>
  run(['bug-report', ...words], {
    env: { ...daemon.home.env, CUSTODY_HOME: daemon.home.stateDir, PLANTED_VARIABLE: 'zebraenvhere' },
  });

/** Each in another place; no word of this program holds one of them. */
const planted = {
  title: 'zebratitle',
  request: 'zebrarequest',
  label: 'zebralabel',
  variable: 'zebravalue',
  command: 'zebracommand',
  output: 'zebraoutput',
  reason: 'zebrareason',
  terminal: 'zebrascreen',
  branch: 'zebrabranch',
  requestId: 'zebraid',
};

/** A daemon that has seen all of them. */
async function witness(): Promise<TestDaemon> {
  const daemon = await testDaemon({ name: 'zebrastate' }).start();
  const { goalId } = await daemon.call('goals.add', {
    title: planted.title,
    repo: daemon.home.repo,
    request: planted.request,
    queue: true,
    requestId: planted.requestId,
  });
  await daemon.call('worktrees.add', { goalId, branch: planted.branch });
  const { runId } = await daemon.exec(goalId, `echo ${planted.output}; : ${planted.command}`, {
    label: planted.label,
    env: { PLANTED: planted.variable },
  });
  await daemon.proved(runId);
  const session = await opened(daemon, `printf ${planted.terminal}; sleep 0`, {});
  await over(daemon, session.sessionId);
  await daemon.call('goals.cancel', { id: goalId, reason: planted.reason });
  const tokens = { operator: daemon.credential };
  expect(tokens.operator.length).toBeGreaterThan(20);
  return daemon;
}

function expectNothingPlanted(daemon: TestDaemon, files: ReadonlyMap<string, string>): void {
  const key = readFileSync(join(daemon.home.stateDir, 'operator.key'), 'utf8').trim();
  const all = [...files].map(([name, content]) => `${name}\n${content}`).join('\n');
  for (const secret of ['zebra', key, key.slice(0, 12), daemon.home.dir, daemon.home.repo])
    expect(all).not.toContain(secret);
}

it('holds nothing of what was planted, with a daemon, without one, and over a store that is damaged', async () => {
  const daemon = await witness();
  const path = join(daemon.home.dir, 'report.tar.gz');
  const answer = await reportOf(daemon, '--output', path, '--json');
  expect(answer).toMatchObject({ code: 0, stderr: '' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const files = await unpacked(path);
  expectNothingPlanted(daemon, files);
  expect(json(answer).data.missing).toEqual([]);
  expect([...files.keys()].sort()).toEqual([
    'actors.json',
    'config.json',
    'contents.txt',
    'doctor.json',
    'journal.jsonl',
    'log.jsonl',
    'metrics.json',
    'schema.json',
    'status.json',
    'versions.json',
  ]);
  // And yet it says what one needs.
  const journal = (files.get('journal.jsonl') as string)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(journal).toContainEqual(expect.objectContaining({ type: 'goal.cancelled', outcome: 'changed' }));
  expect(journal.find(({ type }) => type === 'workload.statusReceipt').payload).toMatchObject({
    how: 'exited',
    authentic: true,
  });
  expect(JSON.parse(files.get('schema.json') as string)).toMatchObject({
    isSchemaIntact: true,
    schemaDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(JSON.parse(files.get('actors.json') as string).counts).toContainEqual({
    kind: 'goal',
    all: 2,
    open: expect.any(Number),
  });

  const again = await reportOf(daemon, '--output', path, '--json');
  expect(again.code).toBe(2);
  expect(json(again).error?.code).toBe('target_exists');
  await daemon.kill();
  expect((await reportOf(daemon, '--output', path, '--force', '--json')).code).toBe(0);
  const alone = await unpacked(path);
  expectNothingPlanted(daemon, alone);
  expect(alone.get('contents.txt')).toMatch(/What could not be read\n {2}status\.json: daemon_not_running/);
  expect(alone.get('journal.jsonl')).toBe(files.get('journal.jsonl'));

  truncateSync(join(daemon.home.stateDir, 'custody.db'), 5_000);
  writeFileSync(join(daemon.home.stateDir, 'custody.db-wal'), 'zebra');
  const broken = await reportOf(daemon, '--output', path, '--force');
  expect(broken.code).toBe(0);
  expect(broken.stdout).toContain('could not be read:');
  expect(broken.stdout).toMatch(/journal\.jsonl: (store_corrupt|SQLITE_\w+)/);
  const rest = await unpacked(path);
  expectNothingPlanted(daemon, rest);
  expect([...rest.keys()]).toEqual(
    expect.arrayContaining(['versions.json', 'doctor.json', 'log.jsonl', 'contents.txt']),
  );
});

describe('what is kept', () => {
  it('is what is allowed, whatever else stands beside it', () => {
    expect(
      allowed({
        reason: 'free text',
        reasonCode: 'guardian_gone',
        state: 'a b',
        how: 'exited',
        code: 3,
        ok: true,
        nothing: null,
        goalId: 'G0123456789',
        title: 'G0123456789',
        requestDigest: 'a'.repeat(64),
        launchTokenHash: 'a'.repeat(64),
        receiptText: 'nonce',
        list: ['text', 1],
        deep: { state: 'open', '/srv/x': 1, 'a key of somebody': 2 },
      }),
    ).toEqual({
      reasonCode: 'guardian_gone',
      how: 'exited',
      code: 3,
      ok: true,
      nothing: null,
      goalId: 'G0123456789',
      title: 'G0123456789',
      requestDigest: 'a'.repeat(64),
      list: [1],
      deep: { state: 'open' },
    });
  });

  it('of a line are the words of this program', () => {
    expect(redacted('cannot open /srv/x y "quoted \\" text" with 0123456789abcdef0123 (./rel/z), ~/file')).toBe(
      'cannot open <path> y <text> with <key> (<path>), <path>',
    );
    expect(redacted('a b\u001b[31m')).toBe('a b?[31m');
  });

  it('names nobody, and leaves words alone that are names by chance', () => {
    const who = { home: '/srv/alice', user: 'alice', host: 'alices-laptop' };
    expect(personal('/srv/alice/x alice malice alices-laptop', who)).toBe('~/x <user> malice <host>');
    expect(personal('root ended', { home: '/root', user: 'root', host: 'localhost' })).toBe('root ended');
  });

  it('of a log are times, messages and places in the program', () => {
    const path = join(testDaemon().home.dir, 'daemon.log');
    const stack =
      'Error: planted text\n    at open (file:///srv/alice/custody/dist/daemon.js:12:3)\n    at /srv/alice/x.js:1:2';
    writeFileSync(
      path,
      `${JSON.stringify({ time: 1, level: 50, msg: 'could not read /srv/alice/x', scopeId: 'S0123456789', argv: ['planted'], error: stack })}\nplanted\n`,
    );
    const [first, second] = logTail(path).map((line) => JSON.parse(line));
    expect(first).toEqual({
      time: 1,
      level: 50,
      msg: 'could not read <path>',
      scopeId: 'S0123456789',
      at: ['open (daemon.js:12)', ' (x.js:1)'],
    });
    expect(second).toEqual({ unreadable: true });
    writeFileSync(path, `${JSON.stringify({ time: 'planted', level: { planted: 1 }, msg: 'm' })}\n`);
    expect(logTail(path)).toEqual(['{"msg":"m"}']);
  });

  it('of what a session asks for are no words that its program has chosen', () => {
    const entry = (type: string) => ({
      ...{ position: 1, actor: { kind: 'ptySession', id: 'P0123456789' }, outcome: 'changed', version: 1 },
      ...{ type, eventId: 'e', intact: true, envelope: { at: null, payload: { reasonCode: 'planted', code: 3 } } },
    });
    const payloads = journalLines({
      journal: { page: () => [entry('drain.inspectionFailed'), entry('session.inputNeeded')] },
    } as unknown as Parameters<typeof journalLines>[0]).map((line) => JSON.parse(line).payload);
    // The newest comes first from the store.
    expect(payloads).toEqual([{ code: 3 }, { reasonCode: 'planted', code: 3 }]);
  });
});

it('takes no name that somebody has taken, not even with a link that leads nowhere', async () => {
  const path = join(testDaemon().home.dir, 'report.tar.gz');
  symlinkSync(`${path}.nowhere`, path);
  await expect(writeArchive(path, [], false)).rejects.toMatchObject({ code: 'target_exists', exitCode: 2 });
  expect(readlinkSync(path)).toBe(`${path}.nowhere`);
  expect(readdirSync(dirname(path)).filter((name) => name.startsWith('report'))).toEqual(['report.tar.gz']);
  expect(await writeArchive(path, [], true)).toBe(statSync(path).size);
  expect(await writeArchive(`${path}.2`, [], false)).toBe(statSync(`${path}.2`).size);
  expect(statSync(`${path}.2`)).toMatchObject({ nlink: 1 });
});
