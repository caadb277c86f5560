/** Worktrees that are large, and answers that are too long (WT-06). */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { codesOf, git, mergedWork, type PredictionDaemon, predictionDaemon } from './support/prediction.ts';

async function own(): Promise<PredictionDaemon> {
  const daemon = predictionDaemon();
  onTestFinished(() => daemon.dispose());
  await daemon.start();
  return daemon;
}

describe('size', () => {
  it('20 000 files are looked at in seconds', async () => {
    const daemon = await own();
    const { repo } = daemon.home;
    const files = Array.from(
      { length: 20_000 },
      (_, at) => `M 100644 inline d${at % 100}/f${at}\ndata 2\n${at % 10}\n`,
    );
    const from = `from ${git(repo, 'rev-parse', 'HEAD')}\n`;
    const input = `commit refs/heads/main\ncommitter T <t@example.org> 1 +0000\ndata 0\n${from}${files.join('')}`;
    execFileSync('git', ['fast-import', '--quiet', '--force'], { cwd: repo, input });
    git(repo, 'reset', '-q', '--hard');
    const spot = await daemon.spot(mergedWork);
    const prediction = await daemon.predict(spot);
    expect(prediction).toMatchObject({ eligible: true });
    expect(prediction.elapsedMs).toBeLessThan(20_000);
  });

  it('more names than are read protect, and are not kept', async () => {
    const daemon = await own();
    const spot = await daemon.spot((one) => {
      mergedWork(one);
      const long = 'x'.repeat(230);
      for (let at = 0; at < 40_000; at += 1) writeFileSync(join(one.path, `${long}${at}`), '');
    });
    const prediction = await daemon.predict(spot);
    expect(codesOf(prediction)).toEqual(['inspection_failed']);
    expect(prediction.blockers[0]!.detail).toBe('git status has more to say than is read');
  });
});
