/** A real worktree of a real repository, and a ticket for it as a daemon would issue one. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Executor, execute } from '../../../actors/executor/execute.ts';
import { issueMark } from '../../../actors/executor/marks.ts';
import { type Moment, publicTextOf, type Ticket } from '../../../actors/executor/ticket.ts';
import { fileIdentityOf } from '../../../actors/runtime/generations.ts';
import { canonicalJson } from '../../../machines/canonical.ts';
import { makeRepository } from '../../support/daemonHome.ts';

export const moment: Moment = { wallMs: 1_000, monoMs: 5_000, bootId: 'this-boot' };

export interface SealedWorktree {
  readonly dir: string;
  readonly repo: string;
  readonly path: string;
  /** What must be there afterwards: a link in the worktree leads to it. */
  readonly precious: string;
  readonly ticket: Ticket;
  readonly text: string;
  git(...args: string[]): string;
}

export interface Wanted {
  readonly executor?: Ticket['executor'];
  readonly path?: string;
  readonly change?: Partial<Ticket>;
}

export function sealedWorktree({ executor = 'custody-remove', path, change = {} }: Wanted = {}): SealedWorktree {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'custody-executor-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const repo = makeRepository(join(dir, 'repository'));
  const place = path ?? join(dir, 'worktree');
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: repo, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  git('worktree', 'add', '-q', '-b', 'work', place);
  const precious = join(dir, 'precious');
  mkdirSync(precious);
  writeFileSync(join(precious, 'kept'), 'kept\n');
  fill(place, precious);
  return { dir, repo, path: place, precious, git, ...ticketFor(dir, place, { executor, ...change }) };
}

/** Files, directories, links out of it, names that are no text, and what its owner may not even read. */
function fill(place: string, precious: string): void {
  mkdirSync(join(place, 'deep', 'er'), { recursive: true });
  writeFileSync(join(place, 'deep', 'er', 'file'), 'x');
  writeFileSync(Buffer.concat([Buffer.from(`${place}/`), Buffer.from([0xff, 0xfe])]), 'x');
  symlinkSync(precious, join(place, 'link'));
  symlinkSync(join(precious, 'kept'), join(place, 'deep', 'link'));
  mkdirSync(join(place, 'shut', 'inner'), { recursive: true });
  writeFileSync(join(place, 'shut', 'inner', 'file'), 'x', { mode: 0o400 });
}

export function ticketFor(dir: string, path: string, change: Partial<Ticket>): Pick<SealedWorktree, 'ticket' | 'text'> {
  const ticketId = `X${randomBytes(6).toString('hex')}`;
  const directory = join(dir, 'tickets', ticketId);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { gitdir, ...found } = fileIdentityOf(path);
  const ticket: Ticket = {
    version: 1,
    ticketId,
    installationId: 'N1',
    generationId: 'W1',
    sealEpoch: 1,
    authorityEpoch: 2,
    executor: 'custody-remove',
    path,
    fsIdentity: { ...found, gitdir },
    issued: moment,
    expires: null,
    directory,
    aside: join(dir, 'aside'),
    secret: randomBytes(32).toString('hex'),
    ...change,
  };
  issueMark(directory, publicTextOf(ticket));
  return { ticket, text: canonicalJson(ticket) };
}

/** As the program with that name does. */
export const run = ({ text, ticket }: Pick<SealedWorktree, 'text' | 'ticket'>, options: Partial<Executor> = {}) =>
  execute({ name: ticket.executor as Executor['name'], now: () => moment, ...options }, text);
