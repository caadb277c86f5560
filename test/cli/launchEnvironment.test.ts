import { describe, expect, it } from 'vitest';
import { daemonEnvironment, workloadEnvironment } from '../../cli/launchEnvironment.ts';

const shell = {
  PATH: '/bin',
  HOME: '/h',
  LC_ALL: 'C',
  LC_TIME: 'C',
  TERM: 'xterm',
  API_KEY: 'secret',
  LD_PRELOAD: '/evil.so',
  NODE_OPTIONS: '--conditions=development',
  NODE_CHANNEL_FD: '3',
  XDG_RUNTIME_DIR: '/run',
  CUSTODY_HOME: '/c',
  SSH_AUTH_SOCK: '/s',
};

describe('the environment of a workload (ruling 23)', () => {
  it('is the allow-list and nothing else', () => {
    expect(workloadEnvironment(shell, [])).toEqual({
      PATH: '/bin',
      HOME: '/h',
      LC_ALL: 'C',
      LC_TIME: 'C',
      TERM: 'xterm',
    });
  });

  it('has what is named, by value or from here; the later one wins', () => {
    const env = workloadEnvironment(shell, ['API_KEY', 'TOKEN=a=b', 'EMPTY=', 'PATH=/other']);
    expect(env).toMatchObject({ API_KEY: 'secret', TOKEN: 'a=b', EMPTY: '', PATH: '/other' });
  });

  it.each([
    ['MISSING', /no such variable/],
    ['constructor', /no such variable/],
    ['__proto__', /no such variable/],
    ['=value', /names no variable/],
    ['', /names no variable/],
  ])('%j is refused before anything runs', (entry, message) => {
    expect(() => workloadEnvironment(shell, [entry])).toThrow(message);
  });
});

it('the daemon inherits places and settings, no credential and no descriptor number', () => {
  expect(daemonEnvironment(shell)).toEqual({
    PATH: '/bin',
    HOME: '/h',
    NODE_OPTIONS: '--conditions=development',
    XDG_RUNTIME_DIR: '/run',
    CUSTODY_HOME: '/c',
  });
});
