/**
 * Coding agents from the npm registry, as far as they come without an account: their screens come up and are repainted,
 * keys and sizes arrive, and their end is captured with everything that they started.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { isAlive, isGone } from '../guardian/support/processes.ts';
import { eventually } from '../support/eventually.ts';
import { patienceMs } from '../support/patience.ts';
import { exited, type Size } from '../support/terminal.ts';
import { type Sessions, sessions } from '../support/terminalSessions.ts';
import { agentProgram, installAgents } from './support/installed.ts';

interface Agent {
  readonly program: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Below its HOME. */
  readonly files?: Readonly<Record<string, unknown>>;
  /** Shown when it is there. */
  readonly ready: string;
  /** What is typed, and what shows that it has come. */
  readonly keys: readonly [keys: string, shows: string];
  /** A row that is there in a terminal of this many columns, and in no other. */
  readonly rowOf: (cols: number) => string;
  readonly screen: 'normal' | 'alternate';
  /** Ends it. */
  readonly quit: string;
}

const smaller = { cols: 80, rows: 24 };
const larger = { cols: 100, rows: 30 };
const waiting = { timeout: patienceMs };

const down = '\x1b[B';
const quietGemini = { general: { enableAutoUpdate: false }, privacy: { usageStatisticsEnabled: false } };
const ctrlCTwice = '\x03\x03';

const agents: readonly (readonly [name: string, agent: Agent])[] = [
  [
    'Gemini CLI, in lines',
    {
      program: 'gemini',
      files: { '.gemini/settings.json': quietGemini },
      ready: '● 1. Trust folder',
      keys: [down, '● 2. Trust parent folder'],
      rowOf: (cols) => ` ╭${'─'.repeat(cols - 4)}╮`,
      screen: 'normal',
      quit: ctrlCTwice,
    },
  ],
  [
    'Gemini CLI, on the whole screen',
    {
      program: 'gemini',
      files: {
        '.gemini/settings.json': {
          ...quietGemini,
          ui: { useAlternateBuffer: true },
          security: { folderTrust: { enabled: false } },
        },
      },
      ready: '● 1. Sign in with Google',
      keys: [down, '● 2. Use Gemini API Key'],
      rowOf: (cols) => `╭${'─'.repeat(cols - 2)}╮`,
      screen: 'alternate',
      quit: ctrlCTwice,
    },
  ],
  [
    'pi',
    {
      program: 'pi',
      env: { PI_OFFLINE: '1', PI_TELEMETRY: '0' },
      ready: 'No models available',
      keys: ['/quit', 'Quit pi'],
      rowOf: (cols) => '─'.repeat(cols),
      screen: 'normal',
      quit: '\r',
    },
  ],
];

beforeAll(installAgents);

it.each(agents)(
  '%s: comes up, is repainted, takes keys and a size, and is captured to its proved end',
  async (_, agent) => {
    const running = await start(agent);
    await running.shows(agent.ready);
    await running.type(...agent.keys);
    await running.isRepaintedAlike(agent.screen);
    await running.resize(larger);
    // Only what has been drawn anew is as wide as this.
    await expect.poll(async () => (await running.screen()).lines, waiting).toContain(agent.rowOf(larger.cols));
    await running.isRepaintedAlike(agent.screen);
    await running.quit(agent.quit);
  },
);

it('what an agent has started and left behind is ended with it', async () => {
  const pi = await start(agents.find(([name]) => name === 'pi')![1]);
  await pi.shows('No models available');
  await pi.type('!setsid sleep 600 >/dev/null 2>&1 & echo started pid"="$!\r', 'started pid=');
  const pid = Number(/started pid=(\d+)/.exec((await pi.screen()).lines.join('\n'))![1]);
  expect(isAlive(pid)).toBe(true);
  await pi.quit('\x04');
  await isGone(pid);
});

class Running {
  readonly #own: Sessions;
  readonly #sessionId: string;
  #size = smaller;

  constructor(own: Sessions, sessionId: string) {
    this.#own = own;
    this.#sessionId = sessionId;
  }

  async shows(text: string): Promise<void> {
    const until = { kind: 'text', text } as const;
    const wait = { id: this.#sessionId, until, waitMs: patienceMs };
    const reply = await this.#own.daemon.attempt('sessions.wait', wait);
    if (!reply.ok) throw new Error(`${reply.error.message}: ${text}; but:\n${(await this.screen()).lines.join('\n')}`);
  }

  async type(keys: string, shows: string): Promise<void> {
    await this.#own.daemon.call('sessions.send', { id: this.#sessionId, bytes: base64(keys), paste: 'never' });
    await this.shows(shows);
  }

  async screen() {
    const screen = await this.#own.daemon.call('sessions.screen', { id: this.#sessionId });
    return { ...screen, lines: screen.lines.map((line) => line.trimEnd()) };
  }

  async resize(size: Size): Promise<void> {
    await this.#own.daemon.call('sessions.resize', { id: this.#sessionId, ...size });
    this.#size = size;
  }

  /** Somebody who comes later sees what is there. */
  async isRepaintedAlike(buffer: Agent['screen']): Promise<void> {
    const { terminal, child } = this.#own.attach(this.#sessionId, { args: ['--read-only'], size: this.#size });
    const differs = async () => {
      const seen = terminal.lines.map((line) => line.trimEnd());
      const { lines } = await this.screen();
      return seen.join('\n') === lines.join('\n') ? [] : [seen, lines];
    };
    await expect.poll(differs, waiting).toEqual([]);
    expect(terminal.emulator.buffer.active.type).toBe(buffer);
    child.kill('SIGTERM');
    await exited(child);
  }

  /**
   * It ends by itself, completely recorded, and with proof that nothing of it is left. Gemini CLI reads a wish to leave that
   * comes early and does not act on it; when it will, nothing shows. So it is told again, as a person would.
   */
  async quit(keys: string): Promise<void> {
    const { daemon } = this.#own;
    const over = await eventually(`its end; it shows ${(await this.screen()).lines.join('\n')}`, async () => {
      await daemon.attempt('sessions.send', { id: this.#sessionId, bytes: base64(keys), paste: 'never' });
      const until = { kind: 'exit' } as const;
      const reply = await daemon.attempt('sessions.wait', { id: this.#sessionId, until, waitMs: 2_000 });
      return reply.ok ? reply.data : undefined;
    });
    expect(over).toMatchObject({ capture: 'complete', result: { how: 'exited', code: 0 } });
    await daemon.proved(over.runId);
    const shown = await daemon.call('sessions.show', { id: this.#sessionId });
    expect(shown).toMatchObject({ workload: 'final', capture: 'complete', scope: 'proved', missing: null });
  }
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

async function start({ program, files = {}, env = {} }: Agent): Promise<Running> {
  const own = await sessions();
  const home = own.file('agent');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), JSON.stringify(content));
  }
  mkdirSync(home, { recursive: true });
  const { goalId } = await own.daemon.goal();
  const environment = { HOME: home, TMPDIR: home, LANG: 'C.UTF-8', SHELL: '/bin/sh', ...env };
  const { sessionId } = await own.daemon.exec(goalId, `exec ${agentProgram(program)}`, {
    env: environment,
    terminal: smaller,
  });
  return new Running(own, sessionId as string);
}
