import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { foregroundOf, inForeground, inState, statOf } from './support/processes.ts';
import type { TerminalChanges, TerminalScope } from './support/terminal.ts';
import { runInTerminal } from './support/terminal.ts';

interface Shell extends TerminalScope {
  readonly pid: number;
  /** Types a command, with Enter. */
  command(text: string): void;
  /** Types a command that prints `up` when it is in the foreground, and returns its process group. */
  inForegroundOf(text: string): Promise<number>;
}

const shells = {
  bash: { argv: ['bash', '--norc', '--noprofile', '-i'], stopped: 'Stopped', running: 'Running', status: '$?' },
  zsh: { argv: ['zsh', '-f', '-i'], stopped: 'suspended', running: 'running', status: '$?' },
  fish: { argv: ['fish', '--no-config', '-i'], stopped: 'stopped', running: 'running', status: '$status' },
} as const;

type ShellName = keyof typeof shells;

async function shell(name: ShellName, changes: TerminalChanges = {}): Promise<Shell> {
  const scope = await runInTerminal(shells[name].argv, changes);
  const { terminal } = scope;
  const { pid } = scope.launch.ready.workload;
  const command = (text: string) => terminal.type(`${text}\r`);
  command('echo be""gin'); // the output differs from its echo
  await terminal.saw('begin');
  return {
    ...scope,
    pid,
    command,
    inForegroundOf: async (text) => {
      command(text);
      await terminal.saw(/^up\r\n/m);
      return eventually('a job in the foreground', () => {
        const group = foregroundOf(pid);
        return group !== pid && group > 0 ? group : undefined;
      });
    },
  };
}

const job = `sh -c 'echo up; exec sleep 1000'`;

async function exits({ command, launch, terminal }: Shell): Promise<number | null> {
  command('exit 3');
  await terminal.marked;
  return (await launch.exited).code;
}

describe.each(Object.keys(shells) as ShellName[])('%s in a terminal (linux cases 70 to 72)', (name) => {
  const { stopped, running, status } = shells[name];

  it('Ctrl-C ends what is in the foreground, and nothing else', async () => {
    const s = await shell(name);
    await s.inForegroundOf(job);
    s.terminal.type('\x03');
    await inForeground(s.pid, s.pid);
    s.command(`echo "status="${status}`);
    await s.terminal.saw('status=130');
    const control = await s.control();
    expect(await control.hello()).toMatchObject({ phase: 'running', terminating: false });
    control.close();
    expect(await exits(s)).toBe(0);
    expect(s.receipt('exit')).toMatchObject({ how: 'exited', code: 3 });
  });

  it('Ctrl-Z stops it; it goes on in the background, and in the foreground', async () => {
    const s = await shell(name);
    const group = await s.inForegroundOf(job);
    s.terminal.type('\x1a');
    await s.terminal.saw(stopped);
    await inForeground(s.pid, s.pid);
    expect(statOf(group)?.state).toBe('T');
    s.command('bg');
    await inState(group, 'SR');
    s.command('jobs');
    await s.terminal.saw(running);
    s.command('fg');
    await inForeground(group, s.pid);
    s.terminal.type('\x03');
    await inForeground(s.pid, s.pid);
    expect(await exits(s)).toBe(0);
  });
});

describe('a bare command in a terminal', () => {
  it('70 is ended by Ctrl-C', async () => {
    const { terminal, launch, receipt } = await runInTerminal(['sleep', '1000']);
    terminal.type('\x03');
    await terminal.marked;
    expect(await launch.exited).toEqual({ code: 0, signal: null });
    expect(receipt('exit')).toMatchObject({ how: 'signaled', signal: 2, terminated: false });
    expect(terminal.output().toString()).toBe('^C');
  });

  it('73 learns of a new size', async () => {
    const wait = `sleep 1000 & trap 'stty size; kill $!; exit 4' WINCH; stty size; wait`;
    const { terminal, receipt } = await runInTerminal(['bash', '-c', wait]);
    await terminal.saw('24 80');
    terminal.resize(132, 43);
    await terminal.saw('43 132');
    await terminal.marked;
    expect(receipt('exit').code).toBe(4);
  });

  it('74 takes no notice of Ctrl-Z, which nobody would ever undo, and then of Ctrl-C', async () => {
    const { terminal, launch, receipt } = await runInTerminal(['cat']);
    terminal.type('\x1a');
    terminal.type('line\r');
    await terminal.saw('line\r\nline\r\n');
    terminal.type('\x03');
    await terminal.marked;
    expect((await launch.exited).code).toBe(0);
    expect(receipt('exit')).toMatchObject({ how: 'signaled', signal: 2 });
  });
});
