/** Sessions of a real daemon, and the command line that watches them from a terminal of its own. */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { type Finished, type JsonAnswer, json, type RunOptions, run } from '../cli/support/program.ts';
import { type TestDaemon, testDaemon } from './daemon.ts';
import { cliProgram } from './daemonProcess.ts';
import { type Size, type TestTerminal, testTerminal } from './terminal.ts';

export interface OpenSession {
  readonly goalId: string;
  readonly runId: string;
  readonly sessionId: string;
}

export class Sessions {
  readonly daemon: TestDaemon;
  readonly env: Readonly<Record<string, string>>;
  #goal: string | undefined;

  constructor(daemon: TestDaemon) {
    this.daemon = daemon;
    this.env = { ...daemon.home.env, CUSTODY_HOME: daemon.home.stateDir, TERM: 'xterm-256color' };
  }

  async open(script: string, { cols = 80, rows = 24 }: Partial<Size> = {}): Promise<OpenSession> {
    this.#goal ??= (await this.daemon.goal()).goalId;
    const goalId = this.#goal;
    const { runId, sessionId } = await this.daemon.exec(goalId, script, { terminal: { cols, rows } });
    return { goalId, runId, sessionId: sessionId as string };
  }

  custody(args: readonly string[], options: Partial<RunOptions> = {}): Promise<Finished> {
    return run(args, { env: this.env, cwd: this.daemon.home.repo, ...options });
  }

  async json(args: readonly string[], options?: Partial<RunOptions>): Promise<JsonAnswer> {
    return json(await this.custody([...args, '--json'], options));
  }

  /** The command line on a terminal. */
  on(terminal: TestTerminal, args: readonly string[], options: { isControlling?: boolean } = {}): ChildProcess {
    const { env, daemon } = this;
    return terminal.run([process.execPath, cliProgram, ...args], { env, cwd: daemon.home.repo, ...options });
  }

  /** Somebody who watches, in a terminal as large as the session. */
  attach(session: string, { args = [], size }: { args?: readonly string[]; size?: Size } = {}) {
    const terminal = testTerminal(size);
    const child = this.on(terminal, ['sessions', 'attach', session, ...args]);
    return { terminal, child };
  }

  file(name: string): string {
    return join(this.daemon.home.dir, name);
  }
}

export async function sessions(): Promise<Sessions> {
  return new Sessions(await testDaemon().start());
}
