/** WT-04, WT-07: a ticket that is withdrawn while its executor is at work is undone or finished, and never both. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { changeMark, hasMark, withdrawMark } from '../../actors/executor/marks.ts';
import { progressIn, recordProgress } from '../../actors/executor/progress.ts';
import { diesBefore, isWhole, thrown } from './support/refusals.ts';
import { run, sealedWorktree } from './support/sealedWorktree.ts';

describe('a ticket that is withdrawn', () => {
  it('stays withdrawn where the worktree moves while somebody withdraws it, and nobody takes it later', () => {
    const worktree = sealedWorktree();
    const { directory } = worktree.ticket;
    const answers: boolean[] = [];
    const withdrawing = (name: string) => {
      if (name !== 'after the move') return;
      // The first look was before the move.
      const looks = [true];
      answers.push(withdrawMark(directory, 'disturbed', () => looks.pop() ?? existsSync(worktree.path)));
    };
    const disturbed = { code: 'ticket_refused', details: { reason: 'disturbed' } };
    expect(thrown(() => run(worktree, { step: withdrawing }))).toMatchObject(disturbed);
    expect(answers).toEqual([false]);
    isWhole(worktree);
    expect(withdrawMark(directory, 'stale', () => existsSync(worktree.path))).toBe(true);
    expect(thrown(() => run(worktree))).toMatchObject(disturbed);
    isWhole(worktree);
  });

  it('calls the worktree back that a dead executor has put aside and not taken', () => {
    const worktree = sealedWorktree();
    expect(diesBefore('consume', worktree).message).toBe('interrupted');
    expect(existsSync(worktree.path)).toBe(false);
    const withdrawn = (to: 'disturbed' | 'stale') => withdrawMark(worktree.ticket.directory, to, () => false);
    // Control does not leave past it: the same ticket goes on.
    expect([withdrawn('stale'), hasMark(worktree.ticket.directory, 'begun')]).toEqual([false, true]);
    expect(withdrawn('disturbed')).toBe(false);
    expect(thrown(() => run(worktree))).toMatchObject({ details: { reason: 'disturbed' } });
    isWhole(worktree);
    expect(withdrawn('disturbed')).toBe(true);
  });

  it('is finished by whoever comes later where the worktree was taken before anybody could withdraw it', () => {
    const worktree = sealedWorktree();
    expect(diesBefore('remove', worktree).message).toBe('interrupted');
    expect(withdrawMark(worktree.ticket.directory, 'disturbed', () => false)).toBe(false);
    expect(run(worktree).receipt.outcome).toBe('removed');
    // As an executor has left it that had no mark for that.
    const older = sealedWorktree();
    const { directory } = older.ticket;
    diesBefore('remove', older);
    recordProgress(directory, { ...progressIn(directory)!, phase: 'consuming' });
    changeMark(directory, 'taken', 'begun');
    expect(withdrawMark(directory, 'disturbed', () => false)).toBe(false);
    expect(run(older).receipt.outcome).toBe('removed');
    expect(run(older).receipt.outcome).toBe('removed');
  });

  it('does not undo what another one with the same ticket has taken meanwhile', () => {
    const worktree = sealedWorktree();
    let others = 0;
    const other = (name: string) => {
      if (name !== 'consume' || others > 0) return;
      others += 1;
      run(worktree);
    };
    expect(run(worktree, { step: other }).receipt.outcome).toBe('removed');
    expect([others, existsSync(worktree.path)]).toEqual([1, false]);
  });
});
