/** A user with an installation and a repository, in a directory of its own. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patientBounds } from './patience.ts';

export interface DaemonHome {
  /** Everything that a test makes lies below. */
  readonly dir: string;
  readonly stateDir: string;
  readonly repo: string;
  /** The daemon's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly contract: 'verified' | 'unverified';
}

export interface HomeOptions {
  /** What its store knows of the host's containment before there is a daemon; `verified` unless said. */
  readonly contract?: 'verified' | 'unverified';
  /** Name of the state directory, below `dir`. */
  readonly name?: string;
  /** Added to the daemon's environment: parameters as `CUSTODY_…`. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Short intervals, so that what only the next look can find out is found out soon; nothing gives up for want of time. */
const parameters = {
  CUSTODY_OBSERVE_INTERVAL_MS: '100',
  CUSTODY_GRACE_MS: '200',
  CUSTODY_CAPACITY: '64',
  ...patientBounds,
};

export function daemonHome({ name = 'state', env = {}, contract = 'verified' }: HomeOptions = {}): DaemonHome {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'custody-daemon-')));
  const temporary = join(dir, 'tmp');
  mkdirSync(temporary);
  const own = { PATH: process.env.PATH ?? '', HOME: dir, TMPDIR: temporary, ...parameters, ...env };
  return { dir, stateDir: join(dir, name), repo: makeRepository(join(dir, 'repository')), env: own, contract };
}

/** With one commit, and without the configuration of whoever runs the tests. */
export function makeRepository(path: string): string {
  mkdirSync(path, { recursive: true });
  const env = {
    PATH: process.env.PATH,
    HOME: path,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Test',
    GIT_AUTHOR_EMAIL: 'test@example.org',
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'test@example.org',
  };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: path, env, stdio: 'ignore' });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(path, 'README.md'), 'a repository\n');
  git('add', '.');
  git('commit', '-qm', 'first');
  return path;
}
