/**
 * One read-only git command about somebody's repository, under a guardian (ruling 25): it takes no lock, refreshes no
 * index, runs no program that the repository names, and is ended when it takes too long or says too much.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ScopeId } from '../../../machines/ids.ts';
import { draft } from '../../runtime/submission.ts';
import { requestKey } from '../commands/requestIds.ts';
import type { DaemonContext } from '../context.ts';
import { gitCommand, listFilterSettings, type Setting } from '../git/command.ts';
import { runEffect } from '../git/effectRunner.ts';

export interface Repository {
  readonly gitDir: string;
  /** Absent where only objects are asked for. */
  readonly worktree?: string;
  readonly filterDrivers?: readonly string[];
}

export interface Look {
  readonly args: readonly string[];
  readonly stdin?: Buffer;
  /** Statuses other than 0 that are answers. */
  readonly answers?: readonly number[];
  readonly largestBytes?: number;
}

export interface Seen {
  readonly code: number;
  readonly stdout: Buffer;
  /** Its scope: receipts and output are kept there. */
  readonly evidenceId: string;
}

/** What was asked for could not be found out, which protects as much as any fact. */
export class LookFailed extends Error {
  readonly code: 'inspection_failed' | 'inspection_timeout';
  readonly evidenceIds: readonly string[];

  constructor(code: LookFailed['code'], message: string, evidenceIds: readonly string[]) {
    super(message);
    this.name = 'LookFailed';
    this.code = code;
    this.evidenceIds = evidenceIds;
  }
}

/** More is no answer that somebody could read, and no reason to fill the disk. */
const usualBytes = 8 * 1_048_576;
const sizeCheckMs = 50;

/**
 * Whatever a repository's own configuration hides from git or has git believe is set back: ignored are what its
 * `.gitignore` files and its own exclude file name, a file is unchanged when all of its stat data is, and what it may be
 * called or run as is what the file system says.
 */
const settings: readonly Setting[] = [
  ['core.excludesFile', '/dev/null'],
  ['core.attributesFile', '/dev/null'],
  ['core.checkStat', 'default'],
  ['core.trustctime', 'true'],
  ['core.fileMode', 'true'],
  ['core.ignoreCase', 'false'],
  ['core.symlinks', 'true'],
  ['core.commitGraph', 'false'],
  ['core.alternateRefsCommand', 'false'],
  ['status.showUntrackedFiles', 'all'],
  ['log.showSignature', 'false'],
];

/** Reference for what was seen at a moment; never the id of an event. */
export const lookReference = (scopeId: string): string => `look:${scopeId}`;

export class GitLooks {
  readonly #context: DaemonContext;
  readonly #limitMs: number;
  readonly #made: { readonly evidenceId: string; readonly what: string }[] = [];

  /** `limitMs` is for each command; without it a FIFO in the place of a file would be waited for for ever. */
  constructor(context: DaemonContext, limitMs: number) {
    this.#context = context;
    this.#limitMs = limitMs;
  }

  /** What was asked so far. */
  get made(): readonly { readonly evidenceId: string; readonly what: string }[] {
    return this.#made;
  }

  /** Throws LookFailed, and `daemon_leaving` or `admission_closed` of the daemon itself. */
  async ask(repository: Repository, look: Look): Promise<Seen> {
    const { store, deadlines } = this.#context;
    const scopeId = requestKey(store.installationId, 'effect', undefined).idOf<ScopeId>('S');
    const { gitDir, worktree, filterDrivers } = repository;
    this.#made.push({ evidenceId: lookReference(scopeId), what: `git ${look.args[0]}` });
    const global = ['--no-optional-locks', '--no-pager', '--no-replace-objects', '--literal-pathspecs'];
    const { argv, env } = gitCommand([...global, ...look.args], filterDrivers, settings);
    const place = { GIT_DIR: gitDir, ...(worktree === undefined ? {} : { GIT_WORK_TREE: worktree }) };
    const recipe = {
      argv,
      env: { ...env, ...place, GIT_NO_LAZY_FETCH: '1' },
      cwd: worktree ?? gitDir,
      umask: 0o077,
      stdin: look.stdin ?? null,
    };
    const largest = look.largestBytes ?? usualBytes;
    const deadline = deadlines.record(scopeId, this.#limitMs);
    const sizes = this.#endWhenLonger(scopeId, largest);
    try {
      deadlines.arm(deadline);
      const purpose = `look: git ${look.args[0]}`;
      const outcome = await runEffect(this.#context, { scopeId, purpose, recipe }, largest + 1);
      return this.#judged(look, scopeId, { ...outcome, isCut: outcome.stdout.length > largest });
    } finally {
      deadlines.disarm(scopeId);
      clearInterval(sizes);
    }
  }

  /** Names of the filter drivers that a repository configures, so that none of them is run. */
  async filterDrivers(repository: Repository): Promise<{ readonly names: Buffer; readonly evidenceId: string }> {
    const { stdout, evidenceId } = await this.ask(repository, { args: listFilterSettings, answers: [1] });
    return { names: stdout, evidenceId };
  }

  #endWhenLonger(scopeId: ScopeId, largest: number): NodeJS.Timeout {
    const output = join(this.#context.places.scopesDir, scopeId, 'stdout.log');
    return setInterval(() => {
      if ((statSync(output, { throwIfNoEntry: false })?.size ?? 0) <= largest) return;
      const payload = { cause: 'deadline' as const, graceMs: 0, requestId: `look:${scopeId}` };
      const eventId = `${this.#context.store.installationId}:look:${scopeId}`;
      const order = draft('drain.requested', { to: ['executionScope', scopeId], payload, by: 'inspection', eventId });
      // A store that takes nothing now leaves the end to the deadline.
      void this.#context.host.submit([order]).catch(() => undefined);
    }, sizeCheckMs);
  }

  #judged(
    { args, answers = [] }: Look,
    scopeId: ScopeId,
    { result, stdout, stderr, isCut }: Awaited<ReturnType<typeof runEffect>> & { readonly isCut: boolean },
  ): Seen {
    const evidenceId = lookReference(scopeId);
    const what = `git ${args[0]}`;
    if (isCut) throw new LookFailed('inspection_failed', `${what} has more to say than is read`, [evidenceId]);
    const { how, code } = result;
    if (how === 'exited' && code !== null && (code === 0 || answers.includes(code)))
      return { code, stdout, evidenceId };
    if (how === 'signaled' || how === 'dumped')
      throw new LookFailed('inspection_timeout', `${what} did not end within ${this.#limitMs} ms`, [evidenceId]);
    const said = firstLine(stderr);
    throw new LookFailed('inspection_failed', `${what} failed (${how} ${code ?? ''}): ${said}`, [evidenceId]);
  }
}

function firstLine(stderr: Buffer): string {
  const lines = stderr.toString('utf8').split('\n');
  const telling = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines[0] ?? '';
  return telling.replace(/[^\x20-\x7e]/g, '?').slice(0, 300);
}
