import type { Command } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import { buildProgram } from '../../cli/program.ts';
import { emptyHome, run } from './support/program.ts';

/** The commands of the contract; a missing one must not go unnoticed. */
const contract = `init doctor config version
daemon start, daemon stop, daemon restart, daemon status
service install, service uninstall, service status
status, processes, next, recover, explain <id>, events, backup <file>, bug-report, inspect, verify, pause, resume, drain, demo, drill [name], acceptance [row], completions <shell>
repos add [path], repos list
goals add <title>, goals list, goals show <goal>, goals queue <goal>, goals cancel <goal>
worktrees predict <worktree>
worktrees register <path>, worktrees authority <worktree> <change>, worktrees ticket <worktree>
worktrees retire <worktree>
worktrees add <goal>, worktrees list, worktrees show <worktree>, worktrees close <worktree>, worktrees seal <worktree>
runs exec <goal> <command>, runs list, runs show <run>, runs logs <run>, runs wait <run>, runs stop <run>
runs result <run>, sessions result <session>
sessions list, sessions show <session>, sessions attach <session>, sessions send <session> [text]
sessions tail <session>, sessions screen <session>, sessions export <session>, sessions wait <session>
sessions resize <session> <size>, sessions stop <session>
agent result, agent need-input [reason], agent boundary <name>, agent goal
observe [words], coverage, import-legacy <file>, metrics
note reserve <run>, note bind <run>, note worktree <run> <dir>, note exit <run>, note path
journal checkpoint, journal forget-ids, artifacts retire
promote budgets, promote compare
machines list, machines show <kind>, machines export [kinds], diagrams diff <revision>
contract verify`
  .replace('init doctor config version', 'init, doctor, config, version')
  .split(/,\s*|\n/);

const leaves = (command: Command, path: string): [string, Command][] =>
  command.commands.flatMap((child) => {
    const name = path === '' ? child.name() : `${path} ${child.name()}`;
    return child.commands.length > 0 ? leaves(child, name) : [[name, child] as [string, Command]];
  });

const commands = leaves(buildProgram(), '').filter(([name]) => name !== '__complete');

it('every command of the contract exists, and no other', () => {
  const shown = commands.map(([name, { registeredArguments }]) =>
    [name, ...registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`))].join(' '),
  );
  expect(shown.sort()).toEqual(contract.sort());
});

describe('each help text', () => {
  const home = emptyHome();
  afterAll(() => home.remove());

  it.each(commands.map(([name]) => name))(
    'custody %s --help has a description and an example to copy',
    async (name) => {
      const { code, stdout, stderr } = await run([...name.split(' '), '--help'], home);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`Usage: custody ${name} `);
      expect(stdout).toMatch(/\nExamples?:\n {2}\$ .*custody /);
      expect(stdout).toContain('--json');
    },
  );

  it('declaring one part of the tree gives the same commands as declaring all of it', () => {
    for (const [name, command] of commands) {
      const part = leaves(buildProgram(name.split(' ')[0]), '').find(([candidate]) => candidate === name);
      expect(part?.[1].helpInformation()).toBe(command.helpInformation());
    }
  });
});
