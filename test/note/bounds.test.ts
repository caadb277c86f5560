/** Calls that have to wait, calls whose work hangs, and calls in another boot: the caller goes on, and losses stay known. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SpoolLook } from '../../persistence/spool.ts';
import { eventually } from '../support/eventually.ts';
import {
  bootId,
  client,
  clientBuiltWith,
  editCounter,
  type Launcher,
  launcher,
  patient,
  stopped,
} from './support/client.ts';

describe('a lock that somebody else holds', () => {
  async function held(own: Launcher): Promise<{ release(): Promise<void> }> {
    own.note(['exit', 'before', '--code', '0']);
    const holder = spawn('flock', [join(own.spool, 'counter'), 'sh', '-c', 'echo held; read line'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(holder.stdout!, 'data');
    return {
      release: async () => {
        holder.stdin!.end();
        await once(holder, 'exit');
      },
    };
  }

  const briefly = (own: Launcher, program = client()) =>
    spawnSync(program, ['exit', 'during', '--code', '0', '--wait', '2500'], { env: own.env, encoding: 'utf8' });

  it('keeps a call for its bound only, and the note that could not be written shows at once and for good', async () => {
    const own = launcher();
    const { release } = await held(own);
    for (const _ of [1, 2]) {
      const { status, stderr } = briefly(own);
      expect({ status, stderr }).toEqual({
        status: 0,
        stderr: 'custody-note: this note is lost: the counter is locked by another call\n',
      });
    }
    expect(own.taken()).toMatchObject({ notes: [{ seq: 1 }], lost: [], unsettled: 2 });
    await release();
    own.note(['exit', 'after', '--code', '0']);
    expect(own.taken()).toMatchObject({
      notes: [
        { run: 'before', seq: 1 },
        { run: 'after', seq: 4 },
      ],
      lost: [{ from: 2, to: 3, why: 'missing' }],
      unsettled: 0,
    });
  });

  it.each(['WITHOUT_TRACE', 'WITHOUT_FOLDING'] as const)('%s the loss does not stay visible', async (option) => {
    const own = launcher();
    const program = clientBuiltWith(option);
    const { release } = await held(own);
    briefly(own, program);
    await release();
    own.note(['exit', 'after', '--code', '0'], { program });
    expect(own.taken()).toMatchObject({ notes: [{ seq: 1 }, { seq: 2 }], lost: [], unsettled: 0 });
  });

  it('counts only on the counter that has the name: one that was removed meanwhile is not written to', async () => {
    const own = launcher();
    const { release } = await held(own);
    const waiting = spawn(client(), ['exit', 'during', '--code', '0', patient], { env: own.env, stdio: 'ignore' });
    const done = once(waiting, 'exit');
    const counter = join(own.spool, 'counter');
    const inode = `:${statSync(counter).ino} `;
    const isAwaited = () =>
      readFileSync('/proc/locks', 'utf8')
        .split('\n')
        .some((line) => line.includes('-> FLOCK') && line.includes(inode));
    await eventually('the call waits for the lock', () => isAwaited() || undefined);
    rmSync(counter);
    await release();
    await done;
    expect(own.taken().notes).toMatchObject([
      { run: 'before', seq: 1 },
      { run: 'during', seq: 1 },
    ]);
    expect(readFileSync(counter, 'latin1')).toContain(own.notes().find(({ run }) => run === 'during')!.stream);
  });

  it('is waited for also when the caller blocks the signal that ends the waiting', async () => {
    const own = launcher();
    const { release } = await held(own);
    const python =
      'import signal,os,sys; signal.pthread_sigmask(signal.SIG_BLOCK,[signal.SIGALRM]); os.execv(sys.argv[1],sys.argv[1:])';
    const words = ['-c', python, client(), 'exit', 'during', '--code', '0', '--wait', '2500'];
    const { status, stderr } = spawnSync('python3', words, { env: own.env, encoding: 'utf8' });
    expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringMatching(/locked by another call/) });
    await release();
  });
});

describe('a call whose work hangs', () => {
  const begin = (own: Launcher, program: string, words: readonly string[]) =>
    spawn(program, words, {
      env: { ...own.env, CUSTODY_TEST_STEP: 'stop:synced' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });

  it('returns in time, holds nothing of its caller’s, and the note comes when the work goes on (INT-05)', async () => {
    const own = launcher();
    own.note(['exit', 'before', '--code', '0']);
    const lock = join(own.dir, 'lock');
    const program = clientBuiltWith('TEST_STEPS');
    const locked = `exec 9>'${lock}'; flock 9; exec '${program}' exit late --code 0 --wait 6000`;
    const caller = begin(own, 'bash', ['-c', locked]);
    const worker = await stopped(caller.pid!);
    const said = once(caller.stderr!, 'data');
    // The end of its output comes although the fork still lives, which also keeps no lock of the caller's.
    const [[code], [text]] = await Promise.all([once(caller, 'close'), said]);
    expect({ code, text: String(text) }).toEqual({
      code: 0,
      text: 'custody-note: this note is lost: it is not written in time, and may still come\n',
    });
    execFileSync('flock', ['-n', lock, 'true']);
    expect(own.taken()).toMatchObject({ notes: [{ run: 'before' }], lost: [], unsettled: 1 });
    process.kill(worker, 'SIGCONT');
    own.note(['exit', 'after', '--code', '0']);
    expect(own.taken().notes.map(({ run }) => run)).toEqual(['before', 'late', 'after']);
  });

  it('without the fork the caller hangs with it', async () => {
    const own = launcher();
    const caller = begin(own, clientBuiltWith('TEST_STEPS', 'WITHOUT_FORK'), [
      'exit',
      'r',
      '--code',
      '0',
      '--wait',
      '1',
    ]);
    await eventually('it stands still', () =>
      /\) T /.test(readFileSync(`/proc/${caller.pid}/stat`, 'utf8')) ? true : undefined,
    );
    const exited = once(caller, 'exit');
    process.kill(caller.pid!, 'SIGKILL');
    await exited;
  });
});

describe('another boot', () => {
  const otherBoot = '00000000-0000-4000-8000-000000000000';
  const age = (own: Launcher): void => editCounter(own, bootId(), otherBoot);

  it('begins another stream, and what the ended one had lost stays known', () => {
    const own = launcher();
    own.note(['exit', 'first', '--code', '0']);
    own.note(['worktree', 'first', '/nowhere']);
    own.note(['exit', 'killed', '--code', '0'], {
      program: clientBuiltWith('TEST_STEPS'),
      env: { CUSTODY_TEST_STEP: 'kill:numbered' },
    });
    age(own);
    // Nobody has written since: the counter alone says how far the stream had come.
    expect(own.taken()).toMatchObject({ notes: [{ seq: 1 }], lost: [{ from: 2, to: 3 }], unsettled: 0 });
    own.note(['exit', 'second', '--code', '0']);
    const look = new SpoolLook({ spoolDir: join(own.stateDir, 'spool'), producer: 'shell', bootId: bootId() });
    const [ended, current] = look.streams.map((stream) => look.read({ stream, after: 0, limit: 10 }));
    expect(look.streams[1]).toBe(look.counter!.stream);
    expect(ended).toMatchObject({ notes: [{ run: 'first', seq: 1 }], lost: [{ from: 2, to: 3 }], upTo: 3 });
    expect(current).toMatchObject({ notes: [{ run: 'second', seq: 1 }], lost: [], upTo: 1 });
    expect(look.taken(look.streams[0]!, 3)).toBe(0);
    expect(readdirSync(own.spool).some((name) => name.endsWith('.end'))).toBe(false);
  });

  it('keeps that also when the call that begins the stream is killed over it', () => {
    const own = launcher();
    own.note(['exit', 'first', '--code', '0']);
    age(own);
    own.note(['exit', 'killed', '--code', '0'], {
      program: clientBuiltWith('TEST_STEPS'),
      env: { CUSTODY_TEST_STEP: 'kill:streamEnded' },
    });
    own.note(['exit', 'second', '--code', '0']);
    expect(own.taken()).toMatchObject({ notes: [{ run: 'first' }, { run: 'second', seq: 1 }], lost: [] });
  });
});
