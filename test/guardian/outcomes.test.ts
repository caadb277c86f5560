import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { holdInShell, turns } from './support/fifo.ts';
import { statOf } from './support/processes.ts';
import { guardian, program } from './support/programs.ts';
import { gated, run, runToEnd, workDirectory } from './support/scope.ts';

const { ENOENT, EACCES, ENOTDIR } = constants.errno;

const ended = { code: null, signal: null, errno: null };

describe('how a workload ended (linux cases 1 to 6)', () => {
  it.each([
    ['1 at once', ['true'], { ...ended, how: 'exited', code: 0, waitStatus: 0 }],
    ['2 with a code', ['sh', '-c', 'exit 7'], { ...ended, how: 'exited', code: 7, waitStatus: 7 << 8 }],
    ['3 by a signal', ['sh', '-c', 'kill -9 $$'], { ...ended, how: 'signaled', signal: 9, waitStatus: 9 }],
  ])('%s', async (_name, argv, outcome) => {
    const scope = await runToEnd(argv);
    expect(scope.code).toBe(0);
    expect(scope.receipt('status')).toMatchObject(outcome);
    expect(scope.receipt('exit')).toMatchObject({
      ...outcome,
      reaped: 1,
      adopted: 0,
      terminated: false,
      lostNested: 0,
    });
  });

  it('4 with a core dump, when the dump is finished', async () => {
    const cwd = workDirectory();
    const scope = await runToEnd(['sh', '-c', `ulimit -c unlimited; exec '${program('tree')}' crash`], { cwd });
    const { how, signal, waitStatus } = scope.receipt('status');
    expect([how, signal, waitStatus & 0x7f]).toEqual(['dumped', constants.signals.SIGABRT, constants.signals.SIGABRT]);
  });

  it('keeps the order of the three receipts', async () => {
    const scope = await runToEnd(['true']);
    const at = (['start', 'status', 'exit'] as const).map((kind) => BigInt(scope.receipt(kind).atNs));
    expect(at).toEqual([...at].sort((a, b) => (a < b ? -1 : 1)));
  });
});

describe('an image that cannot be executed (linux cases 5 and 6)', () => {
  const refused = (errno: number, code: number) => ({ how: 'execFailed', errno, code, signal: null });

  it('5 does not exist', async () => {
    const scope = await gated(['/does/not/exist']);
    expect(await scope.launch.openGate()).toEqual({ execFailed: ENOENT });
    expect(await scope.launch.exited).toEqual({ code: 0, signal: null });
    expect(scope.receipt('status')).toMatchObject(refused(ENOENT, 127));
    expect(scope.receipt('exit')).toMatchObject(refused(ENOENT, 127));
  });

  it('6 may not be executed', async () => {
    const file = join(workDirectory(), 'plain');
    writeFileSync(file, '', { mode: 0o644 });
    const scope = await gated([file]);
    expect(await scope.launch.openGate()).toEqual({ execFailed: EACCES });
    await scope.launch.exited;
    expect(scope.receipt('status')).toMatchObject(refused(EACCES, 126));
  });

  it('has no working directory', async () => {
    const file = join(workDirectory(), 'file');
    writeFileSync(file, '');
    for (const [cwd, errno] of [
      [`${file}-missing`, ENOENT],
      [file, ENOTDIR],
    ] as const) {
      const scope = await gated(['true'], { cwd });
      expect(await scope.launch.openGate()).toEqual({ execFailed: errno });
      await scope.launch.exited;
      expect(scope.receipt('status')).toMatchObject(refused(errno, 126));
    }
  });
});

describe('what the workload finds', () => {
  it('its own environment, umask, directory and arguments, and nothing else', async () => {
    const cwd = workDirectory();
    const script = 'pwd; umask; printf "%s|" "$0" "$@"; echo; env | sort';
    const scope = await runToEnd(['sh', '-c', script, 'zéro', '', 'a b\nc'], {
      cwd,
      umask: 0o037,
      env: { PATH: '/usr/bin:/bin', EMPTY: '', UEBER: 'é=1' },
    });
    const [directory, umask, ...rest] = scope.stdout().split('\n');
    expect([directory, umask]).toEqual([cwd, '0037']);
    expect(rest.join('\n')).toBe(`zéro||a b\nc|\nEMPTY=\nPATH=/usr/bin:/bin\nPWD=${cwd}\nUEBER=é=1\n`);
  });

  it('finds a program by the PATH of its environment, not by ours', async () => {
    const bin = workDirectory();
    writeFileSync(join(bin, 'only-here'), '#!/bin/sh\necho found\n', { mode: 0o755 });
    const scope = await runToEnd(['only-here'], { env: { PATH: bin } });
    expect(scope.stdout()).toBe('found\n');
  });
});

describe('guardian and workload keep apart', () => {
  it('each leads a session of its own', async () => {
    const t = turns(workDirectory());
    const scope = await run(['sh', '-c', holdInShell(t)]);
    const pid = await t.ready();
    expect([pid, statOf(pid)?.session, statOf(scope.launch.pid)?.session]).toEqual([pid, pid, scope.launch.pid]);
    await t.release();
    await scope.launch.exited;
  });

  it('the guardian holds none of the workload’s streams (GRD-09)', async () => {
    const directory = workDirectory();
    const [stream] = turns(directory, 'stream').paths;
    const t = turns(directory);
    const ended = readFile(stream, 'utf8'); // ends when nobody has it open for writing any more
    const out = openSync(stream, 'w');
    const argv = ['sh', '-c', `echo last; exec >&- 2>&-; ${holdInShell(t)}`];
    const scope = await gated(argv, { stdio: [openSync('/dev/null', 'r'), out, out] });
    closeSync(out);
    await scope.launch.openGate();
    await t.ready();
    expect(await ended).toBe('last\n');
    await t.release();
    expect((await scope.launch.exited).code).toBe(0);
  });

  it('fills in the streams that its launcher has not opened', async () => {
    const guardianPath = join(workDirectory(), 'closing');
    writeFileSync(guardianPath, `#!/bin/sh\nexec '${guardian()}' "$@" <&- >&- 2>&-\n`, { mode: 0o755 });
    const out = join(workDirectory(), 'out');
    const scope = await runToEnd(['sh', '-c', `ls -l /proc/self/fd > '${out}'`], { guardianPath });
    expect(scope.receipt('exit').code).toBe(0);
    expect(readFileSync(out, 'utf8')).toMatch(/ 0 -> \/dev\/null\n.* 1 -> .*out\n.* 2 -> \/dev\/null/);
  });
});
