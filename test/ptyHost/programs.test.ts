/** Programs that people really run in a terminal: they come up, are repainted for a second viewer, take keys and sizes, and end. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createEmulator } from '../../pty/transcript/emulator.ts';
import { type OpenSession, type Peer, ptyHost, readReceipt, type TestHost } from './support/host.ts';

interface Screen {
  readonly lines: readonly string[];
  readonly cols: number;
  readonly rows: number;
  readonly repaint: string;
}

const size = { cols: 80, rows: 24 };
const waitMs = 60_000;

class Program {
  readonly host: TestHost;
  readonly daemon: Peer;
  readonly session: OpenSession;

  constructor(host: TestHost, daemon: Peer, session: OpenSession) {
    this.host = host;
    this.daemon = daemon;
    this.session = session;
  }

  async #isShown(text: string, withinMs: number): Promise<boolean> {
    const until = { kind: 'text', text } as const;
    const request = { do: 'wait', sessionId: this.session.id, until, withinMs } as const;
    return (await this.daemon.ask<{ met: boolean }>(request, 2 * waitMs)).met;
  }

  async shows(text: string): Promise<void> {
    if (await this.#isShown(text, waitMs)) return;
    throw new Error(`not seen: ${text}; but:\n${(await this.screen()).lines.join('\n')}`);
  }

  /**
   * Asked again where the question or its answer is lost: a program that has just got another size draws everything anew,
   * and a terminal drops what is typed before the shell has it back.
   */
  async answers(keys: string, text: string): Promise<void> {
    for (let asked = 0; asked < 20; asked += 1) {
      await this.keys(keys);
      if (await this.#isShown(text, 3_000)) return;
    }
    await this.shows(text);
  }

  async keys(keys: string): Promise<void> {
    const bytes = Buffer.from(keys).toString('base64');
    await this.daemon.ask({ do: 'send', sessionId: this.session.id, bytes, paste: 'never', enter: false });
  }

  screen(): Promise<Screen> {
    return this.daemon.ask<Screen>({ do: 'screen', sessionId: this.session.id }, waitMs);
  }

  async resize(cols: number, rows: number): Promise<void> {
    await this.daemon.ask({ do: 'resize', sessionId: this.session.id, cols, rows });
  }

  /** What a second viewer has on its screen after its repaint is what the first has. */
  async repaintsAlike(): Promise<void> {
    const viewer = await this.host.viewer();
    await viewer.ask({ do: 'attach', sessionId: this.session.id, mode: 'screen', readOnly: true });
    const { cols, rows, repaint, offset } = await viewer.event('screen');
    const terminal = createEmulator({ cols, rows, scrollback: 1_000 });
    await new Promise<void>((resolve) => terminal.write(Buffer.from(repaint, 'base64'), resolve));
    const { active } = terminal.buffer;
    const seen = Array.from({ length: rows }, (_, row) =>
      active
        .getLine(active.baseY + row)!
        .translateToString(true)
        .trimEnd(),
    );
    const own = (await this.screen()) as Screen & { readonly offset: number };
    viewer.client.close();
    // A program that draws meanwhile has moved on; only the same moment can look the same.
    if (own.offset === offset) expect(seen).toEqual(own.lines.map((line) => line.trimEnd()));
    else return this.repaintsAlike();
  }

  async endedWith(code: number): Promise<void> {
    const { end } = await this.daemon.event('captureEnded', this.session.id);
    expect(end).toMatchObject({ eof: true, complete: true });
    expect(readReceipt(this.session.scopeDir, 'status')).toMatchObject({ how: 'exited', code });
  }
}

async function program(argv: readonly string[], files: Readonly<Record<string, string>> = {}): Promise<Program> {
  const host = await ptyHost();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(host.directory, name), content);
  const daemon = await host.daemon();
  const env = { HOME: host.directory, LANG: 'C.UTF-8', SHELL: '/bin/sh', PS1: 'prompt> ', TMUX_TMPDIR: host.directory };
  return new Program(host, daemon, await host.open(daemon, argv, { ...size, env }));
}

describe('a shell with job control (linux cases 71, 72)', () => {
  it.each([
    ['bash', ['bash', '--norc', '--noprofile', '-i'], 'prompt>'],
    ['zsh', ['zsh', '-f', '-i'], 'prompt>'],
    ['fish', ['fish', '--no-config', '-i', '-C', 'function fish_prompt; echo "prompt> "; end'], 'prompt>'],
  ])(
    '%s: stops a job, puts it into the background and takes it back, knows its size, and exits with its code',
    async (_, argv, prompt) => {
      const shell = await program(argv);
      await shell.shows(prompt);
      // What is typed before a program has the terminal is the shell's; so each is seen to be there first.
      await shell.keys('echo u"p"; cat\r');
      await shell.shows('up');
      await shell.keys('into the cat\r');
      await expect
        .poll(async () => (await shell.screen()).lines.filter((line) => line === 'into the cat').length, {
          timeout: waitMs,
        })
        .toBe(2);
      await shell.keys('\x1a');
      await expect
        .poll(async () => (await shell.screen()).lines.join('\n'), { timeout: waitMs })
        .toMatch(/stopped|suspended|Stopped/i);
      await shell.keys('jobs; echo job"s"done\r');
      await shell.shows('jobsdone');
      const cats = async () => (await shell.screen()).lines.filter((line) => line.includes('cat')).length;
      const before = await cats();
      await shell.keys('fg\r');
      await expect.poll(cats, { timeout: waitMs }).toBeGreaterThan(before);
      await shell.keys('again\r');
      await expect
        .poll(async () => (await shell.screen()).lines.filter((line) => line === 'again').length, { timeout: waitMs })
        .toBe(2);
      await shell.keys('\x03');
      await shell.resize(100, 30);
      await shell.answers('stty size\r', '30 100');
      await shell.repaintsAlike();
      await shell.keys('exit 7\r');
      await shell.endedWith(7);
    },
  );
});

const lines = Array.from({ length: 200 }, (_, nth) => `line ${nth + 1} of the file`).join('\n');

describe('a program of the whole screen', () => {
  it('vim: edits, is repainted, takes a size, and exits with its code', async () => {
    const vim = await program(['vim', '-u', 'NONE', '-i', 'NONE', '-n', 'file'], { file: `${lines}\n` });
    await vim.shows('line 1 of the file');
    await vim.keys('Otyped above\x1b');
    await vim.shows('typed above');
    await vim.repaintsAlike();
    await vim.resize(60, 12);
    await vim.answers(':set columns? lines?\r', 'lines=12');
    await vim.keys('\r:cq 3\r');
    await vim.endedWith(3);
  });

  it('less: searches, is repainted, takes a size, and ends', async () => {
    const less = await program(['less', 'file'], { file: lines });
    await less.shows('line 1 of the file');
    await less.keys('/line 150\r');
    await less.shows('line 150 of the file');
    await less.repaintsAlike();
    await less.resize(80, 10);
    // It takes no key before it has drawn itself anew.
    await expect.poll(async () => (await less.screen()).lines[8], { timeout: waitMs }).toMatch(/line 158/);
    await less.keys('G');
    await less.shows('line 200 of the file');
    expect((await less.screen()).lines).toHaveLength(10);
    await less.keys('q');
    await less.endedWith(0);
  });

  it('htop: comes up, takes a size, and ends', async () => {
    const htop = await program(['htop', '-d', '100']);
    await htop.shows('Load average');
    await htop.repaintsAlike();
    await htop.resize(120, 40);
    await htop.keys('h');
    await htop.shows('htop');
    await htop.keys('q');
    await htop.keys('q');
    await htop.endedWith(0);
  });

  it('tmux inside: its panes are repainted, take keys and a size, and its end is the end', async () => {
    const tmux = await program(['tmux', '-f', '/dev/null', '-S', 'tmux.sock', 'new-session', 'sh']);
    await tmux.shows('prompt>');
    await tmux.keys('echo in"side"\r');
    await tmux.shows('inside');
    await tmux.keys('\x02%');
    await tmux.shows('│');
    await tmux.repaintsAlike();
    await tmux.resize(100, 20);
    // Its pane learns of the size when tmux has come round to it, and nothing says so.
    const asked = async () => {
      await tmux.keys('tput cols\r');
      return (await tmux.screen()).lines.some((line) => /│\s*49$/.test(line));
    };
    await expect.poll(asked, { timeout: waitMs }).toBe(true);
    await tmux.keys('exit\r');
    const split = async () => (await tmux.screen()).lines.some((line) => line.includes('│'));
    await expect.poll(split, { timeout: waitMs }).toBe(false);
    await tmux.keys('exit\r');
    await tmux.endedWith(0);
  });
});
