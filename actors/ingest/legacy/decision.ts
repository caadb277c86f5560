/** What is to be done about one record of another tool; decided over what is committed, and carried out in intake.ts. */
import type { LegacyRecord } from '../../../machines/legacyRecord.ts';
import type { Store } from '../../../persistence/store.ts';
import type { Host } from '../../host/api.ts';
import type { Draft } from '../../host/outcome.ts';
import type { Clock } from '../../observe/clock.ts';
import type { LinuxAdapter } from '../../observe/linux/adapter.ts';

export interface LegacyParts {
  readonly host: Host;
  readonly store: Store;
  readonly clock: Clock;
  readonly adapter: Pick<LinuxAdapter, 'identityFrom'>;
}

export type RecordOf<Kind extends LegacyRecord['kind']> = Extract<LegacyRecord, { kind: Kind }>;

export interface LegacyAnswer {
  /** `imported`: new here; `known`: nothing is changed by it; `conflict`: something else is known under its name; `refused`. */
  readonly outcome: 'imported' | 'known' | 'conflict' | 'refused';
  /** The actor that it became, or is. */
  readonly id: string | null;
  readonly reason?: string;
}

export type Decision =
  | { readonly answer: LegacyAnswer }
  | {
      readonly id: string;
      /** Not asked for in a dry run, because a row may come before them. */
      readonly drafts: () => readonly Draft[];
      /** What a reader should know of it although it goes in. */
      readonly remark?: string;
    };

export const answered = (outcome: LegacyAnswer['outcome'], id: string | null, reason?: string): Decision => ({
  answer: { outcome, id, ...(reason === undefined ? {} : { reason }) },
});

/** This program controls the worktree already, which no record of others changes. */
export const controlledHere = 'controlled_here';
