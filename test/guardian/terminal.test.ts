import { chmodSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { heardReady, launcher } from './support/launcher.ts';
import { fileContains, memoryContains } from './support/memory.ts';
import { foregroundOf, statOf } from './support/processes.ts';
import { guardian, guardianBuiltWith, wrapped } from './support/programs.ts';
import { exists, gated, readReceipt, workDirectory } from './support/scope.ts';
import { gatedInTerminal, openTerminal, runInTerminal } from './support/terminal.ts';

const [EPERM, ENOTTY] = [1, 25];
const [O_NONBLOCK, O_CLOEXEC] = [0o4000, 0o2000000];

/** Number, target and flags of each descriptor (proc_pid_fd(5)). */
function descriptors(pid: number): { fd: number; target: string; flags: number }[] {
  return readdirSync(`/proc/${pid}/fd`).map((name) => {
    const [, flags] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${name}`, 'utf8'))!;
    return { fd: Number(name), target: readlinkSync(`/proc/${pid}/fd/${name}`), flags: Number.parseInt(flags!, 8) };
  });
}

async function held(changes = {}) {
  const t = turns(workDirectory());
  const scope = await runInTerminal(['sh', '-c', holdInShell(t)], changes);
  const pid = await t.ready();
  return { ...scope, pid, release: t.release };
}

describe('a workload with a terminal', () => {
  it('leads a session of its own around it, in the foreground', async () => {
    const { pid, launch, release } = await held();
    expect(statOf(pid)).toMatchObject({ session: pid });
    expect(foregroundOf(pid)).toBe(pid);
    expect([statOf(launch.pid)?.session, foregroundOf(launch.pid)]).toEqual([launch.pid, -1]);
    await release();
    expect((await launch.exited).code).toBe(0);
  });

  it('which it would have on its streams only, and not as its own, had it not taken it', async () => {
    const { pid, launch, release } = await held({ guardianPath: guardianBuiltWith('WITHOUT_CTTY') });
    expect(foregroundOf(pid)).toBe(-1);
    await release();
    await launch.exited;
  });

  it('has a description of its own on 0 to 2, which blocks, and nothing above (ruling 19)', async () => {
    const { terminal, launch } = await runInTerminal(['cat']); // a shell keeps copies while it redirects
    terminal.type('up\r');
    await terminal.saw('up\r\nup\r\n');
    const own = descriptors(launch.ready.workload.pid);
    expect(own.map(({ fd, target }) => [fd, target])).toEqual([0, 1, 2].map((fd) => [fd, terminal.path]));
    expect(own.filter(({ flags }) => flags & O_NONBLOCK)).toEqual([]);
    terminal.type('\x04');
    expect((await launch.exited).code).toBe(0);
  });

  it('while its guardian keeps one descriptor of the terminal, which does not block and no child inherits', async () => {
    const { terminal, launch, release } = await held();
    const kept = descriptors(launch.pid);
    const ofTerminal = kept.filter(({ target }) => target === terminal.path);
    expect(ofTerminal).toHaveLength(1);
    expect(ofTerminal[0]!.flags & (O_NONBLOCK | O_CLOEXEC)).toBe(O_NONBLOCK | O_CLOEXEC);
    expect(kept.filter(({ fd }) => fd <= 2).map(({ target }) => target)).toEqual(Array(3).fill('/dev/null'));
    await release();
    await launch.exited;
  });

  it('expects UTF-8', async () => {
    const { terminal } = await runInTerminal(['stty', '-a']);
    await terminal.marked;
    expect(terminal.output().toString()).toMatch(/ iutf8/);
  });

  it('can be started by an ordinary user', async () => {
    const scopeDir = join(workDirectory(), 'scope');
    chmodSync(join(scopeDir, '..'), 0o777);
    const argv = ['sh', '-c', 'tty; exit 3'];
    const command = process.getuid!() === 0 ? ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups'] : [];
    const host = launcher({ scopeDir, argv, program: 'terminalHost' }, { command });
    await heardReady(host);
    expect(await host.heard()).toEqual({ opened: { released: true } });
    const { output } = (await host.heard())!;
    expect(Buffer.from(String(output), 'base64').toString()).toMatch(/^\/dev\/pts\/\d+\r\n$/);
    expect(await host.heard()).toEqual({ exited: { code: 0, signal: null } });
    expect(readReceipt(scopeDir, 'exit').code).toBe(3);
  });

  it('never learns the nonce of the end marker', async () => {
    const { pid, terminal, launch, release } = await held();
    const places = ['cmdline', 'environ'].flatMap((name) => [pid, launch.pid].map((one) => [one, name] as const));
    expect(places.filter(([one, name]) => fileContains(one, name, terminal.nonce))).toEqual([]);
    expect(memoryContains(pid, terminal.nonce)).toBe(false);
    await release();
    await launch.exited;
  });

  it('that cannot be executed is told apart from one that prints and fails (case 5)', async () => {
    const scope = await gatedInTerminal(['/nonexistent/program']);
    expect(await scope.launch.openGate()).toEqual({ execFailed: 2 });
    await scope.terminal.marked;
    expect(scope.terminal.output().toString()).toBe('');
    expect(await scope.launch.exited).toEqual({ code: 0, signal: null });
    expect(scope.receipt('exit')).toMatchObject({ how: 'execFailed', errno: 2 });
  });

  it('is not started when the launcher abandons it, and then nobody waits for a reader', async () => {
    const ran = join(workDirectory(), 'ran');
    const scope = await gatedInTerminal(['touch', ran]);
    expect((await scope.launch.abandon()).code).toBe(0);
    expect([exists(ran), scope.receipt('exit').how]).toEqual([false, 'notReleased']);
  });
});

describe('what the guardian finds on descriptor 0', () => {
  it('its own controlling terminal, as the leader of the session: given up for the workload', async () => {
    const guardianPath = wrapped(workDirectory(), ['terminal']);
    const { pid, launch, terminal, release } = await held({ guardianPath });
    expect([statOf(pid)?.session, foregroundOf(pid)]).toEqual([pid, pid]);
    expect(foregroundOf(launch.pid)).toBe(-1);
    await release();
    await terminal.marked;
    expect((await launch.exited).code).toBe(0);
  });

  it('which it could not hand over without giving it up', async () => {
    const guardianPath = wrapped(workDirectory(), ['terminal'], guardianBuiltWith('WITHOUT_NOTTY'));
    const attempt = gatedInTerminal(['true'], { guardianPath });
    await expect(attempt).rejects.toMatchObject({ exitCode: 125, step: 'terminal', errno: EPERM });
  });

  it('the terminal of another session: refused before anything runs', async () => {
    const first = await held();
    const ran = join(workDirectory(), 'ran');
    const attempt = gatedInTerminal(['touch', ran], { terminalOf: first.terminal });
    await expect(attempt).rejects.toMatchObject({
      code: 'guardian_refused',
      exitCode: 125,
      step: 'terminal',
      errno: EPERM,
    });
    expect(exists(ran)).toBe(false);
    await first.release();
    expect((await first.launch.exited).code).toBe(0);
  });

  it('no terminal at all: refused', async () => {
    const attempt = gated(['true'], { terminal: { marker: '0'.repeat(32), lingerMs: 0 } });
    await expect(attempt).rejects.toMatchObject({ exitCode: 125, step: 'terminal', errno: ENOTTY });
  });

  it('a terminal that it was not asked to use: a stream like any other', async () => {
    const terminal = openTerminal();
    const { slave } = terminal;
    const scope = await gated(['sh', '-c', 'tty'], { stdio: [slave, slave, slave] });
    await scope.launch.openGate();
    await terminal.saw(terminal.path);
    expect((await scope.launch.exited).code).toBe(0);
    expect(terminal.output().toString()).not.toContain('\x1b');
  });
});

describe('a workload that writes more than the terminal holds', () => {
  const bytes = 1 << 20;

  async function writtenWhileNobodyReads(inner = guardian()) {
    const guardianPath = wrapped(workDirectory(), ['nonblock'], inner);
    const scope = await gatedInTerminal(['head', '-c', String(bytes), '/dev/zero'], { guardianPath });
    scope.terminal.pause();
    await scope.launch.openGate();
    const { pid } = scope.launch.ready.workload;
    await eventually(
      'a full terminal, or the end of the writer',
      () => 'SZ'.includes(statOf(pid)?.state ?? 'Z') || undefined,
    );
    scope.terminal.resume();
    await scope.terminal.marked;
    await scope.launch.exited;
    return { length: scope.terminal.output().length, code: scope.receipt('exit').code };
  }

  it('waits for its reader', async () => {
    expect(await writtenWhileNobodyReads()).toEqual({ length: bytes, code: 0 });
  });

  it('which it does only because the description is its own: that of the launcher need not block', async () => {
    const { code } = await writtenWhileNobodyReads(guardianBuiltWith('WITHOUT_OWN_STREAMS'));
    expect(code).toBe(1);
  });
});
