/**
 * What a launcher written for Node imports as `custody/note`: it says what it does, and is never failed or kept waiting by
 * that (INT-04, INT-05). Each call runs the client and waits for it, within its bound: Node has neither flock(2) nor
 * pidfd_open(2), so only the client can give the guarantees of docs/notes.md, in the order of the calls, and nothing is
 * left to be said when the launcher exits. Holds no rule about what a note means.
 */
import { spawnSync } from 'node:child_process';
import { noteClient } from './client.ts';

export interface NotesOptions {
  /** Who speaks: lower-case letters, digits and `. _ -`, at most 64. */
  readonly producer: string;
  /** Default: as for every command, from the environment. */
  readonly stateDir?: string;
  /** Bound of one call in ms, 100 by default; the launcher's event loop stands still that long at most. */
  readonly waitMs?: number;
}

/** A note that is not told is lost, or lost a part, or may still come; `why` says what is known. */
export type Told = { readonly told: true } | { readonly told: false; readonly why: string };

export interface Notes {
  /** A run is about to be started. */
  reserve(run: string, said?: { worktree?: string; label?: string; retryOf?: string }): Told;
  /** This process is the run; this very process by default. Call it while the process lives. */
  bind(run: string, said?: { pid?: number; worktree?: string }): Told;
  /** The run works in this directory. */
  place(run: string, worktree: string): Told;
  /** The run was seen to end; takes what Node's `exit` event gives. */
  exit(run: string, how: { code?: number | null; signal?: string | number | null }): Told;
}

/** Makes nothing and checks nothing: whatever is wrong is said by the calls, as `why`. */
export function createNotes(options: NotesOptions): Notes {
  const told = (sentence: () => Sentence): Told => {
    try {
      return tell(options, sentence());
    } catch (thrown) {
      return { told: false, why: thrown instanceof Error ? thrown.message : String(thrown) };
    }
  };
  return {
    reserve: (run, said) =>
      told(() => ({
        words: ['reserve', run],
        flags: { worktree: said?.worktree, label: said?.label, 'retry-of': said?.retryOf },
      })),
    bind: (run, said) =>
      told(() => ({ words: ['bind', run], flags: { pid: said?.pid ?? process.pid, worktree: said?.worktree } })),
    place: (run, worktree) => told(() => ({ words: ['worktree', run, worktree], flags: {} })),
    exit: (run, how) =>
      told(() => ({ words: ['exit', run], flags: how.signal == null ? { code: how.code } : { signal: how.signal } })),
  };
}

type Value = string | number | null | undefined;

interface Sentence {
  /** The command, then its operands, which may be anything. */
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, Value>>;
}

function tell(options: NotesOptions, { words, flags }: Sentence): Told {
  const { producer, stateDir, waitMs = 100 } = options;
  const client = noteClient();
  if (client === undefined) return { told: false, why: 'the client is not built: npm rebuild custody' };
  if (![producer, ...words].every((word) => typeof word === 'string'))
    return { told: false, why: 'a word of the note is no text' };
  const [command = '', ...operands] = words;
  // The rest of the bound is for starting a process, which takes Node much longer than the client takes to write.
  const common = { producer, 'state-dir': stateDir, wait: Math.max(1, Math.floor(waitMs * 0.8)) };
  const written = Object.entries({ ...common, ...flags }).flatMap(([name, value]) => flag(name, value));
  const { status, stderr, error } = spawnSync(client, [command, '--strict', ...written, '--', ...operands], {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: waitMs,
    encoding: 'utf8',
  });
  if (status === 0) return { told: true };
  const said = stderr?.replace(/^custody-note: /, '').trim();
  return { told: false, why: said || error?.message || 'the client was ended' };
}

function flag(name: string, value: Value): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'string' && typeof value !== 'number')
    throw new TypeError(`${name} is neither text nor a number`);
  return [`--${name}=${value}`];
}
