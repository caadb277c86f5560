import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testDaemon } from '../support/daemon.ts';

it('reads captured output from files only: whatever else lies under their names is not there', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const { runId, scopeId } = await daemon.exec(goalId, 'echo out; echo err >&2');
  await daemon.proved(runId);
  const path = (stream: string) => join(daemon.scopeDir(scopeId), `${stream}.log`);
  for (const stream of ['stdout', 'stderr']) rmSync(path(stream));
  execFileSync('mkfifo', [path('stdout')]);
  symlinkSync(join(daemon.home.repo, 'README.md'), path('stderr'));
  const lines: unknown[] = [];
  for await (const line of daemon.client.stream('runs.logs', { id: runId })) lines.push(line);
  const gone = { bytes: 0, complete: false, reason: 'the file is gone' };
  expect(lines).toEqual([
    {
      end: [
        { stream: 'stdout', ...gone },
        { stream: 'stderr', ...gone },
      ],
    },
  ]);
});
