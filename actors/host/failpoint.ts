/**
 * Where a test may stop the world: before anything is written, between the writes (told which type of event was journaled),
 * and on both sides of the answer; and around the commits of a checkpoint of the journal.
 */
export type Failpoint =
  | 'before_begin'
  | 'after_journal_insert'
  | 'before_commit'
  | 'after_commit'
  | 'before_effect'
  | 'before_checkpoint_commit'
  | 'after_checkpoint_commit';
