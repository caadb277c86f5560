/** A state directory without a daemon, and the shipped programs that write it: `custody-note` and `custody observe`. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { noteClient } from '../../pty/note/client.ts';
import { attempt, outputOf, toolMissing } from '../demo/command.ts';
import { ownProgram } from '../spelling.ts';
import type { Prefix } from './namespaces.ts';
import type { Trying } from './row.ts';

export interface ObserveOptions {
  /** Stands in front of the program. */
  readonly prefix?: Prefix;
  /** Sends SIGKILL after so long (timeout(1)), in ms. */
  readonly killAfterMs?: number;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Observed {
  readonly code: number;
  readonly killed: boolean;
  /** What it answered; undefined where it refused or was killed. */
  readonly data: Answered | undefined;
  /** The code by which it refused. */
  readonly error: string | undefined;
}

/** The parts of the answers that are looked at, whatever the verb. */
export interface Answered {
  readonly counts: Counts;
  readonly lost: number;
  readonly spool: { readonly counts: Counts; readonly lost: number };
  readonly pass: {
    readonly lookedAt: number;
    readonly paused: number;
    readonly outcomes: Readonly<Record<string, number>>;
  };
  readonly gaps: readonly { readonly count: number }[];
  readonly worktrees: readonly { readonly class: string }[];
  readonly runs: { readonly bound: number; readonly unbound: number; readonly unreadable: number };
}

type Counts = Readonly<Record<'changed' | 'noop' | 'duplicate' | 'rejected', number>>;

/** What timeout(1) leaves with when it has sent SIGKILL. */
const killedStatus = 137;

export class ObserverPlace {
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly #trying: Pick<Trying, 'interruption'>;

  constructor(trying: Pick<Trying, 'scratch' | 'interruption'>, name: string) {
    const { scratch } = trying;
    this.#trying = trying;
    this.stateDir = join(scratch.dir, 'observers', name);
    mkdirSync(this.stateDir, { recursive: true, mode: 0o700 });
    this.env = { ...scratch.env, CUSTODY_HOME: this.stateDir };
  }

  /** Says something as a launcher does; throws `command_failed` where the note was lost. */
  note(...words: readonly string[]): Promise<string> {
    const client = noteClient();
    if (client === undefined) throw toolMissing('custody-note');
    const { signal } = this.#trying.interruption;
    return outputOf(client, [...words, '--strict', '--wait', '10000'], { env: this.env, signal });
  }

  observe(args: readonly string[], options: ObserveOptions = {}): Promise<Observed> {
    const { prefix = [], killAfterMs } = options;
    const deadly =
      killAfterMs === undefined ? [] : ['timeout', '--foreground', '-s', 'KILL', (killAfterMs / 1_000).toFixed(3)];
    return this.#run([...prefix, ...deadly, ...observeCommand, ...args, '--json'], options);
  }

  async #run([program = '', ...args]: readonly string[], { input, env }: ObserveOptions): Promise<Observed> {
    const { signal } = this.#trying.interruption;
    const settings = { env: { ...this.env, ...env }, signal, ...(input === undefined ? {} : { input }) };
    const { code, stdout } = await attempt(program, args, settings);
    return { ...answerIn(stdout), code, killed: code === killedStatus };
  }

  /** The notes of one producer as they lie in the spool, oldest first. */
  spooled(producer: string): string[] {
    const directory = join(this.stateDir, 'spool', producer);
    const names = readdirSync(directory).filter((name) => name.endsWith('.json'));
    return names.sort().map((name) => readFileSync(join(directory, name), 'utf8'));
  }

  /** What a full disk or a killed client does to a note; `nth` counts from 0. */
  loseNote(producer: string, nth: number): void {
    const directory = join(this.stateDir, 'spool', producer);
    const names = readdirSync(directory).filter((name) => name.endsWith('.json'));
    rmSync(join(directory, names.sort()[nth]!));
  }
}

/** The shipped program, as it is called in a script. */
export const observeCommand: readonly string[] = [process.execPath, ownProgram(), 'observe'];

/** An answer of the command line, which is one line of JSON. */
export function answerIn(stdout: string): Pick<Observed, 'data' | 'error'> {
  try {
    const { data, error } = JSON.parse(stdout) as { data?: Answered; error?: { readonly code: string } };
    return { data, error: error?.code };
  } catch {
    return { data: undefined, error: undefined };
  }
}
