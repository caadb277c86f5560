/** The verbs of an agent, called from inside its session by the program that its user has. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { cliProgram } from '../support/daemonProcess.ts';
import { eventually } from '../support/eventually.ts';
import { type Sessions, sessions } from '../support/terminalSessions.ts';
import { answered } from './support/installation.ts';

const custody = `'${process.execPath}' '${cliProgram}'`;

const resultSchema = { type: 'object', properties: { done: { type: 'boolean' } }, required: ['done'] };

const written = (own: Sessions, name: string): Promise<string> =>
  eventually(`${name} is written`, () => {
    try {
      return readFileSync(own.file(name), 'utf8') || undefined;
    } catch {
      return undefined;
    }
  });

/** A session that the command line has opened, with the schema that its result has to fit. */
async function agent(own: Sessions, script: string) {
  const { goalId } = await own.daemon.goal();
  writeFileSync(own.file('schema.json'), JSON.stringify(resultSchema));
  const options = ['--pty', '--grace', '20s', '--result-schema', own.file('schema.json'), '--json'];
  const { data } = answered(await own.custody(['runs', 'exec', goalId, ...options, '--', 'sh', '-c', script]));
  return { goalId, sessionId: data.sessionId as string, runId: data.runId as string };
}

it('reports a result that counts once its work has ended (PTY-03)', async () => {
  const own = await sessions();
  const { sessionId, goalId } = await agent(
    own,
    `${custody} agent goal --json > '${own.file('goal')}'
     echo '{"done":true}' | ${custody} agent result --file -`,
  );
  const { data } = await own.json(['sessions', 'wait', sessionId, '--exit', '--timeout', '1m']);
  expect(data).toMatchObject({ structured: expect.stringMatching(/^[0-9a-f]{64}$/), firstFailure: null });
  expect((await own.custody(['sessions', 'result', sessionId])).stdout).toBe('{"done":true}\n');
  const wrapped = await own.json(['sessions', 'result', sessionId]);
  expect(wrapped.data).toEqual({ sessionId, digest: data.structured, value: { done: true } });
  expect(JSON.parse(await written(own, 'goal'))).toMatchObject({ ok: true, data: { goalId } });
});

it('is refused a result that does not fit, which stays the first failure', async () => {
  const own = await sessions();
  const { sessionId } = await agent(own, `echo '{"left":1}' | ${custody} agent result --file -; exec cat`);
  // Its end begins at once, so nobody is sure to be left who could hear the refusal.
  const { data } = await own.json(['sessions', 'wait', sessionId, '--exit', '--timeout', '1m']);
  expect(data).toMatchObject({ structured: null, firstFailure: { reason: expect.anything() } });
  const refused = await own.custody(['sessions', 'result', sessionId]);
  expect(refused).toMatchObject({ code: 13, stdout: '', stderr: expect.stringContaining('result_invalid') });
  expect(refused.stderr).not.toMatch(/[{}]/);
  const [reported] = await own.daemon.events({ actor: sessionId, type: 'result.reported' });
  expect(JSON.stringify(reported)).toContain('schema_invalid');
});

it('asks for somebody, and goes on when somebody has answered', async () => {
  const own = await sessions();
  const { sessionId } = await agent(
    own,
    `${custody} agent need-input permission; read line; echo "got $line"; exec cat`,
  );
  const state = async () => (await own.json(['sessions', 'show', sessionId])).data.workload;
  await expect.poll(state, { timeout: 30_000 }).toBe('running.needsInput');
  expect((await own.custody(['sessions', 'list'])).stdout).toContain('needs input');
  await own.custody(['sessions', 'send', sessionId, 'yes', '--enter']);
  await own.custody(['sessions', 'wait', sessionId, '--for', 'got yes', '--timeout', '30s']);
  await expect.poll(state, { timeout: 30_000 }).toBe('running.working');
});

it('is told to go on, and with exit 12 that a decision has moved its Goal on', async () => {
  const own = await sessions();
  const { goalId, sessionId } = await agent(
    own,
    `trap '' TERM
     ${custody} agent boundary publication --json > '${own.file('before')}'
     read line
     ${custody} agent boundary publication; echo $? > '${own.file('after')}'`,
  );
  expect(JSON.parse(await written(own, 'before'))).toMatchObject({
    ok: true,
    data: { goalId, boundary: 'publication' },
  });
  await own.custody(['goals', 'cancel', goalId]);
  await own.custody(['sessions', 'send', sessionId, '--enter']);
  expect(await written(own, 'after')).toBe('12\n');
});

it('is for the inside of a session alone, with its own token, and starts no daemon there', async () => {
  const own = await sessions();
  const outside = await own.json(['agent', 'goal']);
  expect(outside.error).toMatchObject({ code: 'usage', message: expect.stringContaining('CUSTODY_SESSION') });
  const { sessionId } = await own.open('exec cat');
  const env = { ...own.env, CUSTODY_SESSION: sessionId, CUSTODY_SESSION_TOKEN: 'somebody-elses' };
  expect((await own.json(['agent', 'goal'], { env })).error).toMatchObject({ code: 'not_controller' });
  await own.daemon.kill();
  expect((await own.json(['agent', 'goal'], { env })).error).toMatchObject({ code: 'daemon_not_running' });
});
