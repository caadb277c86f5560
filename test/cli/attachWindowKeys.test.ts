/** What passes through a window of another size besides the picture: keys, the mouse, questions, hints, the end. */
import { openSync } from 'node:fs';
import { WriteStream } from 'node:tty';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MouseReports } from '../../cli/attach/mouseReports.ts';
import { ViewerTerminal } from '../../cli/attach/viewerTerminal.ts';
import { Window } from '../../cli/attach/window.ts';
import { cliProgram } from '../support/daemonProcess.ts';
import { exited, testTerminal } from '../support/terminal.ts';
import { sessions } from '../support/terminalSessions.ts';
import { seesAll } from './support/windows.ts';

const session = { cols: 80, rows: 24 };
const smaller = { cols: 50, rows: 12 };
const detach = '\x1dd';

describe('a program in a window of another size', () => {
  it('hears keys and the mouse as it has asked for them, the mouse where it points in the session', async () => {
    const own = await sessions();
    const wants = '\\033[?1h\\033[?2004h\\033[?1002h\\033[?1006h\\033[?1004h\\033=\\033[5 q';
    const script = `stty raw -echo; printf '${wants}\\033[20;55Hready'; head -c 11 | cat -v; printf '\\033[?1006lk'; x=$(head -c 6 | od -An -tu1); printf '\\r\\n%s\\033[?1000h' "$x"; exec cat`;
    const { sessionId } = await own.open(script, session);
    const { terminal, child } = own.attach(sessionId, { size: smaller });
    await terminal.shows('ready');
    const wanted = ['application cursor keys', 'bracketed paste', 'mouse drag', 'application keypad', 'focus events'];
    await terminal.until('the modes', () => wanted.every((mode) => terminal.traces.includes(mode)));
    await terminal.until('the form of the cursor', () => terminal.output.includes('\x1b[5 q'));
    // The window begins at column 26, row 11 of the session; 50 columns and 11 rows of it are there.
    await terminal.type('\x1b[<0;51;1M\x1b[<0;1;12M\x1b[<0;2;');
    await terminal.type('3M');
    await terminal.shows('^[[<0;27;13Mk');
    await terminal.type('\x1b[<0;1;1M');
    await terminal.shows('27  91  77  32  58  43');
    await terminal.until('another kind of reports', () => terminal.traces.includes('mouse vt200'));
    await terminal.type(detach);
    expect(await exited(child)).toMatchObject({ code: 0 });
    await terminal.shows('detached');
    await terminal.isAsBefore();
  });

  it('gets one answer to its questions, and its title and bell are passed on', async () => {
    const own = await sessions();
    const asks =
      "stty raw -echo; read go; printf '\\033[5;7H\\033[6n'; head -c 6 | cat -v; printf '\\033]2;a title\\007\\007'; cat -v";
    const { sessionId } = await own.open(asks, session);
    const { terminal } = own.attach(sessionId, { size: smaller });
    const heard: string[] = [];
    terminal.emulator.onTitleChange((title) => heard.push(title));
    terminal.emulator.onBell(() => heard.push('bell'));
    await terminal.until('the window', () => terminal.traces.includes('alternate screen'));
    await terminal.type('\n');
    await terminal.shows('^[[5;7R');
    await terminal.until('title and bell', () => heard.includes('a title') && heard.includes('bell'));
    await terminal.type('more');
    await terminal.shows('^[[5;7Rmore');
  });

  it('is followed by a hidden cursor where it writes line by line, and not where it has the whole screen', async () => {
    const own = await sessions();
    const { sessionId } = await own.open(
      'stty -echo; printf "\\033[?25l"; seq 1 40; read line; printf "\\033[?1049h\\033[HTOP\\033[24;70HEND"; exec cat',
      session,
    );
    const { terminal } = own.attach(sessionId, { size: smaller });
    await terminal.shows('40');
    await terminal.until('no cursor', () => terminal.traces.includes('hidden cursor'));
    await terminal.type('\r');
    await terminal.until('the beginning', () => terminal.lines[0] === 'TOP');
    expect(terminal.lines.join('')).not.toContain('END');
  });

  it('that holds back its output is seen when it is done, or when it takes too long', async () => {
    const own = await sessions();
    const { sessionId } = await own.open(
      'stty -echo; read go; printf "\\033[?2026hhalf"; read go; printf " whole\\033[?2026l"; exec cat',
      session,
    );
    const { terminal } = own.attach(sessionId, { size: smaller });
    await terminal.until('the window', () => terminal.traces.includes('alternate screen'));
    await terminal.type('\r');
    await terminal.shows('half');
    await terminal.type('\r');
    await terminal.shows('half whole');
  });
});

describe('around a window of another size', () => {
  it('the hints are there before, during and after it', async () => {
    const own = await sessions();
    const { sessionId } = await own.open('echo here; exec cat', session);
    const { terminal, child } = own.attach(sessionId, { size: { cols: 90, rows: 30 } });
    await terminal.shows('here');
    const hint = ` ${sessionId}  80x24 in 90x30  detach with ctrl-] d${' '.repeat(90)}`.slice(0, 90);
    await terminal.until(hint, () => terminal.lines.at(-1) === hint);
    await terminal.type(detach);
    expect(await exited(child)).toMatchObject({ code: 0 });
    await terminal.shows('detached from');
    expect(terminal.lines.slice(0, 2)).toEqual([
      expect.stringContaining('session is 80x24, this terminal 90x30'),
      'detach with ctrl-] d',
    ]);
    expect(terminal.lines.join('')).not.toContain('here');
  });

  it('the hints are in the history where the session has the whole window', async () => {
    const own = await sessions();
    const { sessionId } = await own.open('echo here; exec cat', session);
    const { terminal } = own.attach(sessionId, { size: session });
    await terminal.shows('here');
    expect(terminal.history).toContain('detach with ctrl-] d');
  });

  it('what was said last stays in sight when the session ends', async () => {
    const own = await sessions();
    const script = 'read go; seq 1 30; printf "\\033[31mlast words\\033[m \\033[44m \\033[m\\n"; exit 3';
    const { sessionId } = await own.open(script, session);
    const { terminal, child } = own.attach(sessionId, { size: smaller });
    await terminal.until('the window', () => terminal.traces.includes('alternate screen'));
    await terminal.type('\r');
    expect(await exited(child)).toMatchObject({ code: 0 });
    await terminal.shows(`session ${sessionId} has ended: exit 3`);
    await terminal.shows('last words');
    expect(terminal.history).toContain('\n9\n10\n');
    expect(terminal.history).toContain('\n30\nlast words');
    expect(terminal.history).not.toContain('\n8\n');
    await terminal.isAsBefore();
  });

  it('a session that is not repainted begins empty', async () => {
    const own = await sessions();
    const { sessionId } = await own.open('stty -echo; echo before; read go; echo after; exec cat', session);
    await own.custody(['sessions', 'wait', sessionId, '--for', 'before', '--timeout', '30s']);
    const { terminal, child } = own.attach(sessionId, { size: smaller, args: ['--no-repaint'] });
    await terminal.until('the window', () => terminal.traces.includes('alternate screen'));
    await terminal.type('\r');
    await terminal.until('what was said after', () => terminal.lines[0] === 'after');
    expect(terminal.history).not.toContain('before');
    // From another size on there is a screen that can be shown.
    terminal.resize(session);
    await terminal.shows('before');
    await seesAll(own, sessionId, terminal);
    await terminal.type(detach);
    expect(await exited(child)).toMatchObject({ code: 0 });
    await terminal.shows('detached');
    await terminal.isAsBefore();
  });

  it('there is none where the terminal does not know its size', async () => {
    const own = await sessions();
    const { sessionId } = await own.open('echo here; exec cat', session);
    const terminal = testTerminal();
    const attach = `'${process.execPath}' '${cliProgram}' sessions attach ${sessionId}`;
    terminal.run(['sh', '-c', `stty cols 0 rows 0; exec ${attach}`], { env: own.env });
    await terminal.shows('here');
    expect(terminal.traces).toEqual(['raw']);
  });

  it('there is none with --resize, however often the size changes', async () => {
    const own = await sessions();
    const { sessionId } = await own.open('trap "stty size" WINCH; while :; do read line || :; done', session);
    const { terminal } = own.attach(sessionId, { size: smaller, args: ['--resize'] });
    await terminal.shows('12 50');
    for (let cols = 60; cols < 80; cols += 1) terminal.resize({ cols, rows: 20 });
    await terminal.shows('20 79');
    await seesAll(own, sessionId, terminal);
    expect(terminal.output.includes('\x1b[?1049h')).toBe(false);
  });
});

it('whoever feeds a window waits while much of it has not been rendered', async () => {
  const own = testTerminal(smaller);
  const output = new WriteStream(openSync(own.path, 'r+'));
  onTestFinished(() => void output.destroy());
  const terminal = new ViewerTerminal({
    input: undefined,
    output: output as ConstructorParameters<typeof ViewerTerminal>[0]['output'],
  });
  terminal.take();
  const window = new Window({ terminal, sessionId: 'P1', wayOut: undefined, answer: () => {} });
  window.begin({ ...session, repaint: Buffer.from('before ') });
  expect(window.output(Buffer.from('little'))).toBeUndefined();
  await window.output(Buffer.alloc(1_000_000, '\r\nmuch'));
  expect(window.output(Buffer.from('\r\nmore'))).toBeUndefined();
  await own.shows('more');
  // One that is begun anew keeps nobody waiting for what it does not render any more.
  const waiting = window.output(Buffer.alloc(1_000_000, '\r\nmuch'));
  expect(waiting).toBeDefined();
  window.begin({ ...session, repaint: Buffer.from('anew') });
  await waiting;
  await own.shows('anew');
  window.close();
  terminal.restore();
});

describe('reports of the mouse', () => {
  const part = { x: 30, y: 10, cols: 50, rows: 11 };
  const heard = (chunks: readonly string[], isSgr = true): string => {
    const reports = new MouseReports();
    const parts = chunks.map((chunk) => reports.translate(Buffer.from(chunk, 'latin1'), part, isSgr));
    return Buffer.concat(parts).toString('latin1');
  };

  it.each([
    ['moved', ['a\x1b[<0;1;1Mb'], 'a\x1b[<0;31;11Mb'],
    ['of a release', ['\x1b[<2;50;11m'], '\x1b[<2;80;21m'],
    ['beside the session', ['\x1b[<0;51;1M\x1b[<0;1;12Mx'], 'x'],
    ['in pieces', ['\x1b[<', '0;', '1;1', 'M', 'x'], '\x1b[<0;31;11Mx'],
    ['that is none', ['\x1b[<x\x1b[A\x1b', '[<99999999999999999999'], '\x1b[<x\x1b[A\x1b[<99999999999999999999'],
  ])('%s', (_, chunks, expected) => {
    expect(heard(chunks)).toBe(expected);
  });

  it('in the oldest form', () => {
    expect(heard(['\x1b[<65;1;1M\x1b[<0;1;1m'], false)).toBe('\x1b[M\x61\x3f\x2b\x1b[M\x23\x3f\x2b');
  });
});
