import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { emptyHome, finished, json, program, run } from './support/program.ts';

/** An ordinary user gets the mount namespace by way of one of users. */
const unshare = process.getuid?.() === 0 ? '-m' : '-Urm';
const script = 'mount --bind "$HOME" "$HOME" && mount -o remount,bind,ro "$HOME" && exec "$@"';

it('a state directory on a read-only file system is a refused store, whoever asks and whatever is there already', async () => {
  const home = emptyHome();
  const readOnly = (...args: string[]) =>
    finished(
      spawn('unshare', [unshare, 'sh', '-c', script, 'sh', process.execPath, program, ...args, '--json'], {
        env: home.env,
        cwd: '/',
      }),
    );
  const expectRefused = async (...args: string[]) => {
    const answer = await readOnly(...args);
    expect(answer, args.join(' ')).toMatchObject({ code: 9, stderr: '' });
    const { error } = json(answer);
    expect(error).toMatchObject({ code: 'store_readonly', retryable: false });
    expect(error?.next.join()).toContain('--state-dir');
  };
  await expectRefused('init');
  // Stopped before it could make its log directory, and after.
  expect((await run(['init'], { env: home.env })).code).toBe(0);
  for (const command of [['init'], ['init', '--check'], ['goals', 'list'], ['daemon', 'start']])
    await expectRefused(...command);
  const doctor = json(await readOnly('doctor'));
  expect(doctor.data.checks).toContainEqual(
    expect.objectContaining({ id: 'store', ok: false, detail: expect.stringContaining('store_readonly') }),
  );
  expect((await run(['daemon', 'start'], { env: home.env })).code).toBe(0);
  expect((await run(['daemon', 'stop'], { env: home.env })).code).toBe(0);
  await expectRefused('goals', 'list');
  home.remove();
});
