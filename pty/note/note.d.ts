/** The types of `custody/note`; a test holds them against pty/note/adapter.ts. What the fields mean: docs/notes.md. */
export interface NotesOptions {
  readonly producer: string;
  readonly stateDir?: string;
  readonly waitMs?: number;
}
export type Told = { readonly told: true } | { readonly told: false; readonly why: string };
export interface Notes {
  reserve(run: string, said?: { worktree?: string; label?: string; retryOf?: string }): Told;
  bind(run: string, said?: { pid?: number; worktree?: string }): Told;
  place(run: string, worktree: string): Told;
  exit(run: string, how: { code?: number | null; signal?: string | number | null }): Told;
}
export function createNotes(options: NotesOptions): Notes;
