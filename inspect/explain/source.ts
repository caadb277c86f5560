/** What an explanation is made from: committed snapshots and the journal, of a daemon or of a store that is only read. */
import type { ProcessView } from '../../actors/daemon/api/views.ts';
import type { Host } from '../../actors/host/api.ts';
import type { JournalTable } from '../../persistence/tables/journal.ts';

export interface ExplainSource {
  /** `snapshotOf` throws HostError where a record cannot be trusted, and answers undefined where there is none. */
  readonly host: Pick<Host, 'snapshotOf' | 'versionOf' | 'linked' | 'list'>;
  readonly journal: Pick<JournalTable, 'page'>;
  /** Which machine this is, in the sense of a Goal's `nodeId`. */
  readonly nodeId: string;
  /** Whether a check is configured for a repository; undefined where the configuration cannot be read. */
  hasCheck(repoId: string | null): boolean | undefined;
  /** Whether a launch in flight belongs to the daemon that serves; nothing is in flight where none does. */
  isLaunchedHere(scopeId: string): boolean;
  /** Who is in the tree of a scope as its guardian says; undefined where nobody was asked. */
  membersOf(scopeId: string): Members | 'unanswered' | undefined;
}

export interface Members {
  readonly members: readonly ProcessView[];
  readonly total: number;
}
