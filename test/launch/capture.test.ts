import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureFiles } from '../../pty/launch/capture.ts';
import { turns } from '../guardian/support/fifo.ts';
import { run, runToEnd, workDirectory } from '../guardian/support/scope.ts';

describe('output goes straight into files (CAP-01)', () => {
  it('of both streams, whole and in order', async () => {
    const scope = await runToEnd(['sh', '-c', 'seq 1 20000; echo problem >&2; cat']); // stdin is empty
    expect(scope.stdout()).toBe(Array.from({ length: 20_000 }, (_, at) => `${at + 1}\n`).join(''));
    expect(readFileSync(join(scope.directory, 'stderr.log'), 'utf8')).toBe('problem\n');
  });

  it('of a descendant, too, after the root has ended and we have closed our copies', async () => {
    const t = turns(workDirectory());
    const late = `echo $$ > '${t.paths[0]}'; read line < '${t.paths[1]}'; echo late`.replaceAll('$', '\\$');
    const scope = await run(['sh', '-c', `setsid sh -c "${late}" & echo root; exit 9`]);
    await t.ready();
    await scope.appeared('status.json');
    expect([scope.stdout(), scope.receipt('status').code]).toEqual(['root\n', 9]);
    await t.release();
    await scope.launch.exited;
    expect(scope.stdout()).toBe('root\nlate\n');
  });

  it('where several writers share a file and none overwrites another', async () => {
    const writer = 'i=0; while [ $i -lt 500 ]; do echo line; i=$((i+1)); done';
    const scope = await runToEnd(['sh', '-c', `(${writer}) & (${writer}) & (${writer}) & wait`]);
    expect(scope.stdout()).toBe('line\n'.repeat(1500));
  });
});

describe('the files', () => {
  it('are private and new', () => {
    const directory = workDirectory();
    const capture = captureFiles(directory);
    for (const path of [capture.stdoutPath, capture.stderrPath]) expect(statSync(path).mode & 0o777).toBe(0o600);
    capture.close();
    expect(() => captureFiles(directory)).toThrow(expect.objectContaining({ code: 'evidence_unavailable', errno: 17 }));
    expect(readdirSync(directory).sort()).toEqual(['stderr.log', 'stdout.log']);
  });

  it('are not half made when one of them cannot be', () => {
    const directory = workDirectory();
    writeFileSync(join(directory, 'stderr.log'), 'kept');
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    expect(() => captureFiles(directory)).toThrow(expect.objectContaining({ code: 'evidence_unavailable' }));
    expect(readdirSync(directory)).toEqual(['stderr.log']);
    expect(open()).toBe(before);
  });
});
