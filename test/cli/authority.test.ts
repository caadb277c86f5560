/** Agents are not operators (ruling 24): the command line inside of a run, by the program that its user has. */
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cliProgram } from '../support/daemonProcess.ts';
import { type Sessions, sessions } from '../support/terminalSessions.ts';
import { answered } from './support/installation.ts';

const custody = `'${process.execPath}' '${cliProgram}'`;

/** A line of the command line, with its answer and its exit status in a file. */
const line = (own: Sessions, name: string, args: string): string =>
  `${custody} ${args} --json > '${own.file(name)}'; echo $? > '${own.file(`${name}.status`)}'`;

const said = (own: Sessions, name: string) => ({
  ...JSON.parse(readFileSync(own.file(name), 'utf8')),
  status: Number(readFileSync(own.file(`${name}.status`), 'utf8')),
});

async function agent(own: Sessions, script: string, options: readonly string[]): Promise<string> {
  const { goalId } = await own.daemon.goal();
  const asked = ['runs', 'exec', goalId, ...options, '--json', '--', 'sh', '-c', script];
  const { data } = answered(await own.custody(asked));
  await own.daemon.proved(data.runId);
  return goalId;
}

it.each([
  ['a session', ['--pty']],
  ['a run without a terminal', ['--env', 'CUSTODY_HOME']],
])('refuses the work of %s what is the operator’s, and leaves everything as it is', async (_, options) => {
  const own = await sessions();
  const { goalId: other } = await own.daemon.goal();
  const { sessionId } = await own.open('echo private; exec cat');
  const lines = {
    cancel: `goals cancel ${other}`,
    list: 'goals list',
    stop: 'daemon stop --keep-work',
    start: 'daemon start',
    send: `sessions send ${sessionId} text`,
    screen: `sessions screen ${sessionId}`,
    export: `sessions export ${sessionId} --format raw -o '${own.file('exported')}'`,
  };
  await agent(
    own,
    Object.entries(lines)
      .map(([name, args]) => line(own, name, args))
      .join('\n'),
    options,
  );
  for (const name of Object.keys(lines)) {
    expect(said(own, name), name).toMatchObject({
      status: 4,
      error: { code: 'not_operator', message: expect.stringContaining('agents are not operators') },
    });
  }
  expect(await own.daemon.call('goals.show', { id: other })).toMatchObject({ status: 'todo' });
  expect(await own.daemon.events({ actor: sessionId, type: 'session.inputSent' })).toEqual([]);
  expect(existsSync(own.file('exported'))).toBe(false);
});

it('lets a session do what was granted to it at its launch', async () => {
  const own = await sessions();
  const { sessionId } = await own.open('read text; echo "got $text"; exec cat');
  const lines = [
    line(own, 'send', `sessions send ${sessionId} text --enter`),
    line(own, 'wait', `sessions wait ${sessionId} --for 'got text' --timeout 1m`),
    line(own, 'screen', `sessions screen ${sessionId}`),
    line(own, 'add', 'goals add another'),
    line(own, 'stop', 'daemon stop'),
  ];
  await agent(own, lines.join('\n'), ['--pty', '--grant', 'sessions', '--grant', 'goals']);
  for (const name of ['send', 'wait', 'add']) expect(said(own, name), name).toMatchObject({ status: 0, ok: true });
  expect(JSON.stringify(said(own, 'screen').data)).toContain('got text');
  expect(said(own, 'stop')).toMatchObject({ status: 4, error: { code: 'not_operator' } });
  expect((await own.daemon.call('goals.list', {})).goals.map(({ title }) => title)).toContain('another');
});

it('shows no session in itself: it would never come to an end', async () => {
  const own = await sessions();
  const { goalId } = await own.daemon.goal();
  const lines = ['attach', 'tail --follow'].map((verb) => `${custody} sessions ${verb} $CUSTODY_SESSION; echo said $?`);
  const script = `${lines.join('; ')}; echo over; exec cat`;
  const asked = ['runs', 'exec', goalId, '--pty', '--size', '200x50', '--grant', 'sessions', '--json', '--'];
  const { data } = answered(await own.custody([...asked, 'sh', '-c', script]));
  const waited = ['sessions', 'wait', data.sessionId, '--regex', 'said 2[^]*said 2[^]*over', '--timeout', '20s'];
  expect(answered(await own.custody([...waited, '--json']))).toMatchObject({ ok: true });
});

it('says which file is wrong when the key may be read by others', async () => {
  const own = await sessions();
  const key = join(own.daemon.home.stateDir, 'operator.key');
  chmodSync(key, 0o604);
  const { error } = await own.json(['goals', 'list']);
  expect(error).toMatchObject({ code: 'operator_key_unusable', message: expect.stringContaining(key) });
  expect(error?.next[0]).toBe(`chmod 600 "${key}"`);
  expect((await own.json(['status'])).ok).toBe(true);
});
