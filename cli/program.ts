/** The whole command tree. Declaring it loads nothing heavy: what a command needs is imported when it runs. */
import { Command } from 'commander';
import { registerAcceptance } from './commands/acceptance.ts';
import { registerAdmission } from './commands/admission.ts';
import { registerAgent } from './commands/agent.ts';
import { registerBackup } from './commands/backup.ts';
import { registerBugReport } from './commands/bugReport.ts';
import { registerCompletions } from './commands/completions.ts';
import { registerContract } from './commands/contract.ts';
import { registerDaemon } from './commands/daemon.ts';
import { registerDemo } from './commands/demo.ts';
import { registerDiagrams } from './commands/diagrams.ts';
import { registerDrill } from './commands/drill.ts';
import { registerEvents } from './commands/events.ts';
import { registerExplain } from './commands/explain.ts';
import { registerGoals } from './commands/goals.ts';
import { registerInspect } from './commands/inspect.ts';
import { registerMachines } from './commands/machines.ts';
import { registerNote } from './commands/note.ts';
import { registerObserve } from './commands/observe.ts';
import { registerPromote } from './commands/promote.ts';
import { registerRecover } from './commands/recover.ts';
import { registerRepos } from './commands/repos.ts';
import { registerArtifacts, registerJournal } from './commands/retention.ts';
import { registerRuns } from './commands/runs.ts';
import { registerService } from './commands/service.ts';
import { registerSessions } from './commands/sessions.ts';
import { registerSetup } from './commands/setup.ts';
import { registerStatus } from './commands/status.ts';
import { registerVerify } from './commands/verify.ts';
import { registerWorktrees } from './commands/worktrees.ts';
import { addGlobalOptions, groupItems } from './globalOptions.ts';
import { version } from './version.ts';

/** In the order in which help lists them. */
const registrations: readonly (readonly [names: readonly string[], register: (program: Command) => void])[] = [
  [['init', 'doctor', 'config', 'version'], registerSetup],
  [['daemon'], registerDaemon],
  [['service'], registerService],
  [['status', 'processes', 'next'], registerStatus],
  [['recover'], registerRecover],
  [['repos'], registerRepos],
  [['goals'], registerGoals],
  [['worktrees'], registerWorktrees],
  [['runs'], registerRuns],
  [['sessions'], registerSessions],
  [['agent'], registerAgent],
  [['observe', 'coverage', 'import-legacy', 'metrics'], registerObserve],
  [['explain'], registerExplain],
  [['events'], registerEvents],
  [['inspect'], registerInspect],
  [['journal'], registerJournal],
  [['artifacts'], registerArtifacts],
  [['pause', 'resume', 'drain'], registerAdmission],
  [['contract'], registerContract],
  [['promote'], registerPromote],
  [['backup'], registerBackup],
  [['machines'], registerMachines],
  [['diagrams'], registerDiagrams],
  [['bug-report'], registerBugReport],
  [['note'], registerNote],
  [['demo'], registerDemo],
  [['drill'], registerDrill],
  [['acceptance'], registerAcceptance],
  [['verify'], registerVerify],
  // `completions` is about the whole tree, so it is not in the list of those that can do with a part of it.
  [['__complete'], registerCompletions],
];

/** Everything, or, because declaring it all takes longer than asking the daemon, only the part that `wanted` is in. */
export function buildProgram(wanted?: string): Command {
  const program = new Command('custody')
    .description('Runs work under guardians and proves what became of it.')
    .version(version, '-V, --version', 'print the version')
    .enablePositionalOptions()
    .exitOverride()
    // Errors are reported once, by the entry module, as JSON where that was asked for.
    .configureOutput({ writeErr: () => undefined, outputError: () => undefined })
    .configureHelp({ subcommandTerm, groupItems });
  const part = registrations.filter(([names]) => names.includes(wanted ?? ''));
  for (const [, register] of part.length > 0 ? part : registrations) register(program);
  addGlobalOptions(program);
  for (const group of program.commands) if (group.commands.length > 0) group.enablePositionalOptions();
  return program;
}

/** `show <run>`: that a command takes options goes without saying. */
function subcommandTerm(command: Command): string {
  const operands = command.registeredArguments.map((argument) => {
    const name = argument.name() + (argument.variadic ? '...' : '');
    return argument.required ? ` <${name}>` : ` [${name}]`;
  });
  return command.name() + operands.join('');
}
