/** GRD-12: programs that hand work to others are named where a recipe calls them, and nothing else of it is kept. */
import { describe, expect, it } from 'vitest';
import { delegatorsIn } from '../../actors/daemon/launch/delegators.ts';
import { delegatorNames } from '../../machines/delegators.ts';
import { testDaemon } from '../support/daemon.ts';
import { contentOf, everyFile } from './support/files.ts';

const named = (...argv: string[]) => delegatorsIn({ argv, env: {} });
const inScript = (script: string) => named('sh', '-c', script);

describe('a recipe', () => {
  it.each(delegatorNames)('calls %s', (name) => {
    expect(named(name, 'and', 'more')).toEqual([name]);
    expect(named(`/usr/bin/${name}`)).toEqual([name]);
    expect(inScript(`cd somewhere && ${name} --now`)).toEqual([name]);
  });

  it.each<readonly [string, readonly string[]]>([
    ['docker run image; ssh host true', ['docker', 'ssh']],
    ['X=1 Y=2 docker ps', ['docker']],
    ['if ! kubectl get pods; then exit 1; fi', ['kubectl']],
    ['for x in 1 2; do ssh "$x" true; done', ['ssh']],
    ['true | /opt/bin/podman load', ['podman']],
    ['( tmux new -d )', ['tmux']],
    ['echo $(docker ps -q)', ['docker']],
    ['echo "$(docker ps -q)"', ['docker']],
    ['echo `screen -ls`', ['screen']],
    [`bash -c 'docker run image'`, ['docker']],
    [`exec bash -lc "cd x; sh -c 'at now'"`, ['at']],
    ['"docker" run', ['docker']],
    ['nohup setsid docker run &', ['docker']],
    ['timeout -k 5 10 ssh host', ['ssh']],
    ['true\nsudo -u root nsenter -t 1', ['nsenter']],
    // Names that are no calls.
    ['echo look at this', []],
    ['git commit -m "docker: build at night; ssh is fine"', []],
    [`echo 'docker run'`, []],
    ['cat docker/ssh.txt', []],
    ['dockerd --help', []],
    ['./at-once', []],
  ])('sh -c %j: %j', (script, expected) => {
    expect(inScript(script)).toEqual(expected);
  });

  it('behind a program that runs another one, in a shell that is called otherwise, and by a variable', () => {
    expect(named('env', 'A=1', 'docker', 'ps')).toEqual(['docker']);
    expect(named('sudo', '-u', 'me', 'bash', '-ec', 'batch < jobs')).toEqual(['batch']);
    expect(named('nice', '-n', '5', 'ssh', 'host')).toEqual(['ssh']);
    expect(named('env', 'cargo', 'ssh')).toEqual(['ssh']);
    expect(named('node', 'ssh')).toEqual([]);
    expect(named('sh', 'docker')).toEqual([]);
    expect(delegatorsIn({ argv: ['make'], env: { DOCKER_HOST: 'x', TMUX: 'y', OTHER: 'docker' } })).toEqual([
      'tmux',
      'docker',
    ]);
  });
});

it.each<readonly [string, string]>([
  ['no blanks between its commands', ';'.repeat(100_000)],
  ['parentheses that nobody closes', '(a'.repeat(50_000)],
  ['substitutions that nobody closes', '"$('.repeat(40_000)],
  ['nothing but wrappers', 'env '.repeat(20_000)],
])('of a hundred thousand characters with %s holds nobody up', (_, script) => {
  const begun = performance.now();
  expect(inScript(`docker ps; ${script}`)).toEqual(['docker']);
  expect(named(...Array<string>(20_000).fill('env'))).toEqual([]);
  // Read again from every separator it takes tens of seconds.
  expect(performance.now() - begun).toBeLessThan(2_000);
});

it('is warned about, named as long as its scope is open, and never written down', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const script = 'false && docker run secret-image; exec sleep 600';
  const reply = await daemon.attempt('runs.exec', daemon.launchArguments(goalId, script));
  expect(reply).toMatchObject({ ok: true, exitCode: 0, warnings: [expect.stringContaining('docker')] });
  const { runId, scopeId } = (reply as { readonly data: { runId: string; scopeId: string } }).data;
  await daemon.restart();
  expect(await daemon.scope(scopeId)).toMatchObject({ delegators: ['docker'], parentScopeId: null });
  const named = async () => (await daemon.call('doctor', {})).checks.find(({ id }) => id === 'recipes');
  expect(await named()).toMatchObject({
    ok: true,
    severity: 'warning',
    detail: expect.stringContaining(`${scopeId} (docker)`),
  });
  await daemon.call('runs.stop', { id: runId, graceMs: 0 });
  expect(await named()).toMatchObject({ severity: 'info' });
  await daemon.kill('SIGTERM');
  for (const { path, info } of everyFile(daemon.home.stateDir)) {
    if (info.isFile()) expect(contentOf(path).includes('secret-image'), path).toBe(false);
  }
});
