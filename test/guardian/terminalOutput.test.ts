import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endMarkerBytes } from '../../pty/launch/endMarker.ts';
import { eventually } from '../support/eventually.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { guardianBuiltWith } from './support/programs.ts';
import { workDirectory } from './support/scope.ts';
import { isMarked, runInTerminal } from './support/terminal.ts';

/** Bytes that a terminal passes on as they are: of all 256 only the line feed becomes two. */
function plainBytes(length: number): Buffer {
  return randomBytes(length).map((byte) => (byte === 0x0a ? 0x20 : byte)) as Buffer;
}

function fileOf(bytes: Buffer): string {
  const path = join(workDirectory(), 'output');
  writeFileSync(path, bytes);
  return path;
}

/**
 * Writes until the terminal takes nothing more, and says how much it took. The kernel moves what was written from one
 * buffer to the next in its own time, which makes room again: so full is what stays full.
 */
async function fill(path: string): Promise<number> {
  const fd = openSync(path, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  let [length, refusals] = [0, 0];
  await eventually('a full terminal', () => {
    try {
      length += writeSync(fd, 'x'.repeat(4096));
      refusals = 0;
    } catch {
      refusals += 1;
    }
    return refusals === 10 || undefined;
  });
  closeSync(fd);
  return length;
}

describe('the output of a workload that writes and ends (linux case 79)', () => {
  it.each([1, 4000, 20_000, 200_000])(
    '%d bytes are complete at the marker, 25 times',
    async (length) => {
      const bytes = plainBytes(length);
      const path = fileOf(bytes);
      for (let round = 0; round < 25; round++) {
        const { terminal, launch } = await runInTerminal(['cat', path]);
        await terminal.marked;
        expect(Buffer.compare(terminal.output(), bytes)).toBe(0);
        expect(await launch.exited).toEqual({ code: 0, signal: null });
      }
    },
    180_000,
  );

  it('has no marker without the guardian’s holding on', async () => {
    const { terminal, launch } = await runInTerminal(['echo'], { guardianPath: guardianBuiltWith('WITHOUT_HOLD') });
    await launch.exited;
    expect(await isMarked(terminal)).toBe(false);
  });
});

describe('a reader that pauses', () => {
  it('80 across the exit has everything afterwards', async () => {
    const bytes = plainBytes(10_000); // of which the reader takes one piece ahead, at most 4095 bytes
    const t = turns(workDirectory());
    const scope = await runInTerminal(['sh', '-c', holdInShell(t, `exec cat '${fileOf(bytes)}'`)]);
    scope.terminal.pause();
    await t.ready();
    await t.release();
    await scope.appeared('exit.json');
    scope.terminal.resume();
    await scope.terminal.marked;
    expect(Buffer.compare(scope.terminal.output(), bytes)).toBe(0);
    expect((await scope.launch.exited).code).toBe(0);
  });

  /** Fills the terminal to the last byte before the workload ends. */
  async function filled(changes = {}) {
    const t = turns(workDirectory());
    const scope = await runInTerminal(['sh', '-c', holdInShell(t)], changes);
    await t.ready();
    scope.terminal.pause();
    const length = await fill(scope.terminal.path);
    await t.release();
    await scope.appeared('exit.json');
    return { ...scope, length };
  }

  it('of a terminal that is full: the marker comes, whole, as soon as there is room', async () => {
    const { terminal, launch, length } = await filled();
    terminal.resume();
    await terminal.marked;
    expect(terminal.output().toString()).toBe('x'.repeat(length));
    expect((await launch.exited).code).toBe(0);
  });

  it('which takes more than one attempt', async () => {
    const guardianPath = guardianBuiltWith('WITHOUT_WHOLE_MARKER');
    await eventually('a marker that does not come', async () => {
      const { terminal, launch } = await filled({ guardianPath, lingerMs: 100 });
      terminal.resume();
      await launch.exited;
      return (await isMarked(terminal)) ? undefined : true;
    });
  });
});

describe('what else may happen at the end', () => {
  it('81 a writer in the background that outlives the shell is part of the output', async () => {
    const t = turns(workDirectory());
    // Ignored before the fork: the hang-up of a leader that ends may come before its child has run at all.
    const late = `trap '' HUP; (${holdInShell(t, 'echo late')}) & echo early`;
    const scope = await runInTerminal(['sh', '-c', late]);
    await t.ready();
    await scope.appeared('status.json');
    const control = await scope.control();
    expect(await control.hello()).toMatchObject({ phase: 'rootEnded' });
    control.close();
    await t.release();
    await scope.terminal.marked;
    expect(scope.terminal.output().toString()).toBe('early\r\nlate\r\n');
    expect(scope.receipt('exit')).toMatchObject({ code: 0, adopted: 1 });
  });

  /** Reads a line that is typed behind a Ctrl-S, so that it ends with its output stopped. */
  async function stoppedOutput(changes = {}) {
    const scope = await runInTerminal(['sh', '-c', 'echo up; read line'], changes);
    await scope.terminal.saw('up\r\n');
    scope.terminal.type('\x13line\r');
    await scope.appeared('exit.json');
    return scope;
  }

  it('82 after a Ctrl-S the rest and the marker come all the same', async () => {
    const { terminal, launch } = await stoppedOutput();
    await terminal.marked;
    expect(terminal.output().toString()).toBe('up\r\nline\r\n');
    expect((await launch.exited).code).toBe(0);
  });

  it('82 and where they do not, the guardian ends at its time', async () => {
    const guardianPath = guardianBuiltWith('WITHOUT_FLOW_START');
    const { terminal, launch } = await stoppedOutput({ guardianPath, lingerMs: 300 });
    expect((await launch.exited).code).toBe(0);
    expect(terminal.output().toString()).toBe('up\r\n');
    terminal.type('\x11');
    expect(await isMarked(terminal)).toBe(false);
  });

  it('83 markers with other nonces, and pieces of one, are output', async () => {
    const forged = Buffer.concat([
      endMarkerBytes('0'.repeat(32)),
      Buffer.from('\x1b_custody;end;\x1b\\'),
      endMarkerBytes('f'.repeat(32)).subarray(0, 30),
    ]);
    const { terminal } = await runInTerminal(['cat', fileOf(forged)]);
    await terminal.marked;
    expect(terminal.output()).toEqual(forged);
  });

  it('a terminal that the workload leaves in disorder still gets its marker', async () => {
    const { terminal } = await runInTerminal(['sh', '-c', 'stty olcuc tostop -opost echo; printf done']);
    await terminal.marked;
    expect(terminal.output().toString()).toBe('done');
  });
});
