/** Attaching from within tmux, where many people live. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { cliProgram } from '../support/daemonProcess.ts';
import { exited, testTerminal } from '../support/terminal.ts';
import { sessions } from '../support/terminalSessions.ts';

it('works inside tmux: screen, keys, detaching, and a session that ends in an alternate screen', async () => {
  const own = await sessions();
  const { sessionId } = await own.open(
    'printf \'\\033[?1049h\\033[?1000hpainted 🙂\\n\'; read line; echo "got <$line>"; exec cat',
  );
  const terminal = testTerminal({ cols: 100, rows: 30 });
  const tmux = ['tmux', '-f', '/dev/null', '-S', own.file('tmux.sock')];
  const shell = `PS1='shell> ' exec sh -i`;
  const env = { ...own.env, LC_ALL: 'C.UTF-8' };
  const outside = terminal.run([...tmux, 'new-session', shell], { env });
  try {
    await terminal.shows('shell>');
    await terminal.type(`'${process.execPath}' '${cliProgram}' sessions attach ${sessionId}\r`);
    await terminal.shows('painted 🙂');
    await terminal.type('from within\r');
    await terminal.shows('got <from within>');
    await terminal.type('\x1dd');
    await terminal.shows(`detached from ${sessionId}`);
    // The shell's own screen is back, and its lines are edited again.
    await terminal.type('echo $((40 + 2)) is it\r');
    await terminal.shows('42 is it');
    expect(terminal.lines.join('')).not.toContain('painted');
    await terminal.type('exit\r');
    expect(await exited(outside)).toMatchObject({ code: 0 });
  } finally {
    spawnSync(tmux[0] as string, [...tmux.slice(1), 'kill-server']);
  }
});
