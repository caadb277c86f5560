/** Ruling 21: a daemon takes over terminals whose holder was started by a version that speaks the protocol before this one. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isGone } from '../guardian/support/processes.ts';
import { testDaemon } from '../support/daemon.ts';
import { daemonProgram } from '../support/daemonProcess.ts';
import { opened, ptyHostOf, shows, typed } from './support/terminals.ts';

/** What is built, with the newest protocol of the PTY host taken out; below node_modules, so that it finds its packages. */
function previousDaemon(): readonly string[] {
  const dist = dirname(daemonProgram);
  const cache = join(dist, '..', 'node_modules', '.cache', 'custody-tests');
  mkdirSync(cache, { recursive: true });
  const copy = mkdtempSync(join(cache, 'previous-'));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(dist, copy, { recursive: true });
  let changed = 0;
  for (const name of readdirSync(copy).filter((one) => one.endsWith('.js'))) {
    const text = readFileSync(join(copy, name), 'utf8');
    const older = text.replace(/(hostProtocols = )\[2, 1\]/, '$1[1]');
    if (older === text) continue;
    writeFileSync(join(copy, name), older);
    changed += 1;
  }
  expect(changed).toBeGreaterThan(0);
  return [process.execPath, join(copy, 'daemon.js')];
}

const talk = 'echo ready; while read line; do echo "heard $line"; done';

describe('ruling 21: after a replacement of the daemon by a newer one', () => {
  it('terminals go on, are typed into, resized, shown and ended, and their holder is ended with the last of them', async () => {
    const daemon = await testDaemon().start(previousDaemon());
    const { sessionId, scopeId, goalId } = await opened(daemon, talk);
    await shows(daemon, sessionId, 'ready');
    await typed(daemon, sessionId, 'before');
    await shows(daemon, sessionId, 'heard before');
    const host = ptyHostOf(daemon);
    await daemon.call('daemon.stop', { keepWork: true });
    expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
    await daemon.start();
    expect(ptyHostOf(daemon)).toEqual(host);
    await typed(daemon, sessionId, 'after');
    await shows(daemon, sessionId, 'heard after');
    expect(await daemon.call('sessions.resize', { id: sessionId, cols: 100, rows: 30 })).toMatchObject({ cols: 100 });
    expect((await daemon.call('sessions.screen', { id: sessionId })).lines.join('\n')).toContain('heard before');
    // One that is opened now is held by the same process: there is one for an installation.
    const later = await opened(daemon, talk, { goal: goalId });
    await shows(daemon, later.sessionId, 'ready');
    const { settled, blocked } = await daemon.call('daemon.stop', {});
    expect([[...settled].sort(), blocked]).toEqual([[scopeId, later.scopeId].sort(), []]);
    await daemon.process.exited;
    await isGone(host.pid);
    await daemon.start();
    for (const id of [sessionId, later.sessionId])
      expect(await daemon.call('sessions.show', { id })).toMatchObject({ scope: 'proved' });
  });
});
