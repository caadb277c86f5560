/** WT-04, JRN-05: what a worktree counts of the runs of others is what those runs are, whatever is told in which order. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { draft } from '../../actors/runtime/submission.ts';
import { activeIn, namedAtMost } from '../../machines/notedRuns.ts';
import { startOf } from '../../machines/sequencedId.ts';
import { bind, job, noting, put, reserve, testIntake } from './support/notes.ts';

const count = namedAtMost + 8;
const anything = fc.array(
  fc.tuple(fc.integer({ min: 0, max: count - 1 }), fc.constantFrom('reserve', 'bind', 'put', 'end')),
  { minLength: 100, maxLength: 200, size: 'max' },
);

it('a run that is over stays over when its place is told again, with more of them than are named', async () => {
  await fc.assert(
    fc.asyncProperty(anything, async (history) => {
      const { take, host, run, idOf, generations } = testIntake();
      const note = noting();
      const says = {
        reserve: (at: number) => note(reserve(`r${at}`)),
        bind: (at: number) => note(bind(`r${at}`, { process: { ...job, pid: 100 + at } })),
        put: (at: number) => note(put(`r${at}`)),
      };
      async function tell([at, what]: (typeof history)[number]): Promise<void> {
        if (what !== 'end') return void (await take([says[what as keyof typeof says](at)]));
        const bound = run(`r${at}`);
        if (!bound?.matches({ lifecycle: 'bound' })) return;
        const { identity, identityVersion: basisVersion } = bound.context;
        const sampled = { sampledAt: { monoMs: 1, bootId: 'b' }, contextDigest: '', stable: true } as const;
        const payload = { result: 'ended', reason: 'absent', identity: identity!, basisVersion, ...sampled } as const;
        await host.submit([draft('process.observed', { to: ['run', idOf(`r${at}`)], payload, by: 'test' })]);
      }
      // Somebody more than can be named, who is never ended, is there from the beginning.
      for (let at = 0; at < count; at += 1) await tell([at, 'reserve']);
      for (const step of history) {
        await tell(step);
        const runs = Array.from({ length: count }, (_, at) => run(`r${at}`)!);
        const over = runs.filter((one) => one.matches({ lifecycle: 'ended' })).length;
        const [generation] = generations();
        expect(activeIn(generation!.context)).toBe(count - over);
        expect(generation!.context.notedSettled).toEqual({ ended: over, cancelled: 0 });
      }
    }),
    { numRuns: 5 },
  );
});

it('nothing makes Custody forget that a run was noted: its id says nothing of a start (RET-03)', () => {
  const { idOf } = testIntake();
  expect(startOf(`note:${idOf()}`)).toBeUndefined();
  expect(startOf(`rs:${idOf()}`)).toBeUndefined();
});
