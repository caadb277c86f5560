/** What a source lists, whatever its format: records that may go in, and places where something else stands. */
import type { RecordOf } from './decision.ts';

interface Listed {
  /** Its place in the source: a JSON pointer, or a line. */
  readonly at: string;
}

export interface Unusable extends Listed {
  readonly kind: 'worktree' | 'run' | 'binding';
  /** With their places, and never with what stood there. */
  readonly problems: readonly string[];
}

export interface ListedWorktree extends Listed {
  readonly kind: 'worktree';
  /** Null where the source has no name for it but its path. */
  readonly name: string | null;
  readonly digest: string;
  readonly path: string;
  readonly branch: string | null;
  readonly commit: string | null;
  /** It is a repository without a working tree, which nobody works in. */
  readonly isBare?: boolean;
  /** What the source says of it besides, for people. */
  readonly remarks?: readonly string[];
}

export type Entry =
  | Unusable
  | ListedWorktree
  | (Listed & { readonly kind: 'run'; readonly name: string; readonly record: RecordOf<'run'> })
  | (Listed & { readonly kind: 'binding'; readonly name: string; readonly record: RecordOf<'binding'> });

export interface Listing {
  /** Who had it on record. */
  readonly tool: string;
  readonly entries: readonly Entry[];
}

export const isUnusable = (entry: Entry): entry is Unusable => 'problems' in entry;
