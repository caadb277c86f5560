import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { type Named, startReceipt } from '../support/daemonLeftovers.ts';
import { guardianPair } from '../support/guardianPair.ts';
import { contentOf, everyFile } from './support/files.ts';

/** Each stands for a secret; spelt so that it occurs nowhere by chance. */
const canaries = {
  request: 'canary-request-5f1d0c',
  environment: 'canary-environment-8b20aa',
  argument: 'canary-argument-c4417e',
  input: 'canary-input-19e6d3',
} as const;
type Canary = keyof typeof canaries;

/** As it is, and in the form in which standard input travels. */
const spellings = (canary: string) => [canary, Buffer.from(`${canary}\n`).toString('base64').slice(0, -4)];

/** Empty where it has gone since: the checks of containment come and go beside everything else. */
/** Which files below the home hold which canary, the write-ahead log and the log of the daemon included. */
function found(daemon: TestDaemon): Record<Canary, string[]> {
  const holders = {
    request: [] as string[],
    environment: [] as string[],
    argument: [] as string[],
    input: [] as string[],
  };
  for (const { path, info } of everyFile(daemon.home.dir)) {
    if (!info.isFile()) continue;
    const content = contentOf(path);
    for (const [name, canary] of Object.entries(canaries) as [Canary, string][]) {
      if (spellings(canary).some((one) => content.includes(one)))
        holders[name].push(relative(daemon.home.stateDir, path));
    }
  }
  return holders;
}

/** Which files hold the token of which the store has the hash: every word that could be one is tried. */
function tokensIn(daemon: TestDaemon, hash: string): string[] {
  const isToken = (word: string) => createHash('sha256').update(word).digest('hex') === hash;
  return [...everyFile(daemon.home.dir)]
    .filter(({ info }) => info.isFile())
    .filter(({ path }) =>
      [
        ...contentOf(path)
          .toString('latin1')
          .matchAll(/(?=([0-9a-f]{64}))/g),
      ].some(([, one]) => isToken(one!)),
    )
    .map(({ path }) => relative(daemon.home.stateDir, path));
}

const bothOf = (guardian: Named): number[] => {
  const { witness, worker } = guardianPair(guardian);
  return [witness.pid, worker!.pid];
};

/** What everybody on the machine can see of a process, and what its own user can, if the process lets them. */
function seenOf(pid: number): string {
  const seen = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  try {
    return `${seen}\n${readFileSync(`/proc/${pid}/environ`, 'latin1')}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    return seen;
  }
}

async function failingLaunches(daemon: TestDaemon, goalId: string): Promise<void> {
  const { argument, environment, input } = canaries;
  const secret = { env: { SECRET: environment }, stdin: Buffer.from(`${input}\n`).toString('base64') };
  const missing = daemon.launchArguments(goalId, '', { ...secret, argv: [`/nowhere/${argument}`, argument] });
  expect(await daemon.refusal('runs.exec', missing)).toMatchObject({ code: 'exec_failed' });
  const elsewhere = daemon.launchArguments(goalId, argument, { ...secret, cwd: '..' });
  expect(await daemon.refusal('runs.exec', elsewhere)).toMatchObject({ code: 'usage' });
  const invalid = { ...daemon.launchArguments(goalId, argument, secret), umask: 0o1777 };
  expect(await daemon.refusal('runs.exec', invalid)).toMatchObject({ code: 'invalid_event' });
}

/** Everything that can be asked without asking for the output itself (PRIV-02) or for what the user has configured. */
async function everyAnswer(daemon: TestDaemon, run: { runId: string; goalId: string }): Promise<string> {
  const answers = [
    await daemon.call('status', {}),
    await daemon.call('processes', { released: true }),
    await daemon.call('runs.list', {}),
    await daemon.call('runs.show', { id: run.runId }),
    await daemon.call('goals.list', {}),
    await daemon.call('goals.show', { id: run.goalId, evidence: true, history: true }),
    await daemon.call('worktrees.list', { all: true }),
    await daemon.call('doctor', {}),
    await daemon.events(),
  ];
  return JSON.stringify(answers);
}

describe('PRIV-01, PRIV-02: request, environment, arguments and input', () => {
  it('are in the request file and in what the job itself printed, and nowhere else', async () => {
    const daemon = await testDaemon().start();
    const { request, environment, argument, input } = canaries;
    const { goalId } = await daemon.call('goals.add', {
      title: 'a goal',
      repo: daemon.home.repo,
      request: `please ${request}\n`,
      queue: true,
    });
    await daemon.call('worktrees.add', { goalId });
    const turn = turns(daemon.home.dir);
    const script = `cat; echo "$1 $SECRET"; echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"`;
    const { runId, scopeId } = await daemon.exec(goalId, script, {
      argv: ['sh', '-c', script, 'sh', argument],
      env: { SECRET: environment },
      stdin: Buffer.from(`${input}\n`).toString('base64'),
      label: 'a label',
    });
    await turn.ready();
    const { guardian } = startReceipt(daemon.scopeDir(scopeId))!;
    const visible = [...bothOf(guardian), daemon.pid].map(seenOf).join('\n');
    expect(Object.values(canaries).filter((canary) => visible.includes(canary))).toEqual([]);
    await failingLaunches(daemon, goalId);
    const answers = `${await everyAnswer(daemon, { runId, goalId })}${JSON.stringify(await daemon.call('config', {}))}`;
    expect(Object.values(canaries).filter((canary) => answers.includes(canary))).toEqual([]);

    const output = join('scopes', scopeId!, 'stdout.log');
    const [requestFile] = found(daemon).request;
    expect(requestFile).toMatch(/^requests\/[0-9a-f]{64}$/);
    const expected = { request: [requestFile], environment: [output], argument: [output], input: [output] };
    expect(found(daemon)).toEqual(expected);
    await daemon.restart();
    expect(found(daemon)).toEqual(expected);
    await turn.release();
    await daemon.proved(runId);
    await daemon.kill('SIGTERM');
    expect(found(daemon)).toEqual(expected);
    expect(readFileSync(join(daemon.home.stateDir, output), 'utf8')).toBe(`${input}\n${argument} ${environment}\n`);
  });

  it('of work in a terminal are nowhere either, unless the terminal shows them', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const { environment, argument, input } = canaries;
    const turn = turns(daemon.home.dir);
    const script = `stty -echo; echo ready; read typed; echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"`;
    const {
      runId,
      scopeId,
      sessionId: id,
    } = await daemon.exec(goalId, script, {
      argv: ['sh', '-c', script, 'sh', argument],
      env: { SECRET: environment },
      terminal: { cols: 80, rows: 24 },
    });
    const sessionId = id as string;
    await daemon.call('sessions.wait', { id: sessionId, until: { kind: 'text', text: 'ready' } });
    const bytes = Buffer.from(`${input}\n`).toString('base64');
    await daemon.call('sessions.send', { id: sessionId, bytes, paste: 'never' });
    await turn.ready();
    const { guardian } = startReceipt(daemon.scopeDir(scopeId))!;
    const host = JSON.parse(readFileSync(join(daemon.home.stateDir, 'run', 'pty-host.json'), 'utf8'));
    const visible = [...bothOf(guardian), host.pid].map(seenOf).join('\n');
    const answers = [
      await everyAnswer(daemon, { runId, goalId }),
      await daemon.call('sessions.list', { all: true }),
      await daemon.call('sessions.show', { id: sessionId }),
    ];
    const told = `${visible}\n${JSON.stringify(answers)}`;
    expect(Object.values(canaries).filter((canary) => told.includes(canary))).toEqual([]);
    const nowhere = { request: [], environment: [], argument: [], input: [] };
    expect(found(daemon)).toEqual(nowhere);
    await turn.release();
    await daemon.proved(runId);
    await daemon.kill('SIGTERM');
    expect(found(daemon)).toEqual(nowhere);
  });

  it('of a check and of the worker that runs it are nowhere, and neither is the token of the worker', async () => {
    const { argument, environment, input } = canaries;
    const daemon = testDaemon();
    const turn = turns(daemon.home.dir);
    const script = `echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"`;
    Object.assign(daemon.home.env, {
      CUSTODY_CHECKS: JSON.stringify({ '*': ['sh', '-c', script, input, argument] }),
      CUSTODY_TICK_INTERVAL_MS: '50',
      SECRET: environment,
    });
    await daemon.start();
    const { goalId } = await daemon.goal();
    await turn.ready();
    const { runs } = await daemon.call('runs.list', {});
    const { worker } = await daemon.call('status', {});
    const { guardian } = startReceipt(daemon.scopeDir(worker.scopeId!))!;
    const visible = [...bothOf(guardian), worker.pid!].map(seenOf).join('\n');
    const told = `${visible}\n${await everyAnswer(daemon, { runId: runs[0]!.runId, goalId })}`;
    expect(Object.values(canaries).filter((canary) => told.includes(canary))).toEqual([]);
    await turn.release();
    await daemon.event({ actor: goalId, type: 'receipt.recorded' });
    await daemon.kill('SIGTERM');
    expect(found(daemon)).toEqual({ request: [], environment: [], argument: [], input: [] });
    const [hash] = told.match(/(?<=launchTokenHash[^0-9a-f]+)[0-9a-f]{64}/) ?? [];
    expect(hash).toBeDefined();
    expect(tokensIn(daemon, hash!)).toEqual([]);
  });

  it('the search finds what is there: a label is kept, in the database and nowhere else', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const { runId } = await daemon.exec(goalId, 'true', { label: canaries.argument });
    await daemon.proved(runId);
    const holders = found(daemon).argument;
    expect(holders.length).toBeGreaterThan(0);
    expect(holders.filter((path) => !path.startsWith('custody.db'))).toEqual([]);
    const token = 'f'.repeat(63).padEnd(64, '0');
    writeFileSync(join(daemon.home.stateDir, 'careless'), `a: ${token}`);
    expect(tokensIn(daemon, createHash('sha256').update(token).digest('hex'))).toEqual(['careless']);
  });
});
