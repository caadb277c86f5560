import { importGraph, importsOf, reachableFrom } from '../imports.ts';
import { productionScripts } from '../project.ts';
import { finding, type Rule } from '../rule.ts';
import { child, nameOf, nodesOfType } from '../syntax.ts';

/** The semantic plane: which node may advance a Goal. */
const semantic = /^machines\/goal/i;
/** The local plane: which execution, if any, is trying to. */
const local =
  /^machines\/(\w+\/)?(run|generation|worktree|execution|scope|guardian|session|worker|recovery|assess|evidence|identity)/i;
/** Event schemas share their fields across planes; a chart that reads a field of the other plane imports that event. */
const vocabulary = 'machines/events/';

const goalsAreBlind: Rule = {
  name: 'the Goal chart cannot see the local plane (GOAL-01)',
  check(files) {
    const machines = productionScripts(files, 'machines/');
    const graph = importGraph(
      machines.filter((file) => !file.path.startsWith(vocabulary)),
      'all',
    );
    return machines
      .filter((file) => semantic.test(file.path))
      .flatMap((file) =>
        [...reachableFrom(graph, file.path)]
          .filter((path) => local.test(path))
          .map((path) => finding(file, 1, `reaches ${path}`)),
      );
  },
  caught: [
    { 'machines/goal.ts': "import type { RunContext } from './run.ts';", 'machines/run.ts': '' },
    { 'machines/goalGuards.ts': "import './basis.ts';", 'machines/basis.ts': "import './identity.ts';" },
    { 'machines/goal/guards.ts': "import { assessOwnership } from '../assessment.ts';" },
    { 'machines/goal.ts': "import type { scopeEvents } from './events/scope.ts';" },
  ],
  allowed: [
    { 'machines/goal.ts': "import './basis.ts';", 'machines/run.ts': "import './identity.ts';" },
    { 'machines/goal.ts': "import './events/goal.ts';", 'machines/events/goal.ts': "import '../identity.ts';" },
  ],
};

interface Fence {
  readonly from: RegExp;
  readonly never: RegExp;
  readonly why: string;
}

/** What a module may not reach at run time, through however many others. */
const fences: readonly Fence[] = [
  {
    from: /^(actors\/worker\/|cli\/worker)/,
    never: /^(persistence\/|better-sqlite3$)/,
    why: 'a worker submits over the socket and never writes the database (WRK-07)',
  },
  {
    from: /^cli\/observe(\/|\.ts$)/,
    never: /^(pty\/|node:child_process$)/,
    why: 'the observe entry contains no executor (INT-03)',
  },
  {
    from: /^(persistence|pty|actors\/observe)\//,
    never: /^machines\/(\w+\/)?(goal|assess)/,
    why: 'infrastructure observes, launches and terminates; what evidence means is the domain’s (OWN-11)',
  },
];

const fenced: Rule = {
  name: 'workers, the observe entry and infrastructure reach nothing that they must not use',
  check(files) {
    const graph = importGraph(productionScripts(files), 'values');
    return productionScripts(files).flatMap((file) => {
      const concerned = fences.filter((fence) => fence.from.test(file.path));
      if (concerned.length === 0) return [];
      const reached = [...reachableFrom(graph, file.path)];
      return concerned.flatMap((fence) =>
        reached
          .filter((path) => fence.never.test(path))
          .map((path) => finding(file, 1, `reaches ${path}: ${fence.why}`)),
      );
    });
  },
  caught: [
    { 'actors/worker/tick.ts': "import '../host/host.ts';", 'actors/host/host.ts': "import '../../persistence/s.ts';" },
    { 'cli/worker.ts': "import Database from 'better-sqlite3';" },
    { 'cli/observe.ts': "import '../pty/launch/launch.ts';" },
    { 'cli/observe/once.ts': "import { spawn } from 'node:child_process';" },
    { 'pty/launch/launch.ts': "import { assessOwnership } from '../../machines/assessment.ts';" },
    { 'actors/observe/watch.ts': "import { goalMachine } from '../../machines/goal.ts';" },
  ],
  allowed: [
    {
      'actors/worker/tick.ts': "import type { Store } from '../../persistence/store.ts';",
      'actors/observe/watch.ts': "import type { GoalId } from '../../machines/ids.ts';",
    },
  ],
};

const oneProgram: Rule = {
  name: 'no shell, no shell scripts and no TCP port in what ships; only the viewer listens on loopback (INT-10)',
  check(files) {
    const scripts = files.filter((file) =>
      /^(machines|persistence|pty|actors|inspect|cli)\/.*\.(sh|bash)$/.test(file.path),
    );
    const shells = productionScripts(files).flatMap((file) => [
      ...importsOf(file)
        .filter((one) => /^(node:)?child_process$/.test(one.target))
        .filter((one) => one.names.some((name) => name === 'exec' || name === 'execSync'))
        .map((one) => finding(file, one.line, 'runs a shell')),
      ...nodesOfType(file, 'Property')
        .filter((node) => nameOf(child(node, 'key')) === 'shell' && child(node, 'value')?.value === true)
        .map((node) => finding(file, node, 'runs a shell')),
      ...nodesOfType(file, 'Property')
        .filter((node) => nameOf(child(node, 'key')) === 'port' && !file.path.startsWith('inspect/'))
        .map((node) => finding(file, node, 'listen on a UNIX socket in the private directory')),
    ]);
    return [...scripts.map((file) => finding(file, 1, 'a shell script')), ...shells];
  },
  caught: [
    { 'pty/guardian/build.sh': '' },
    { 'cli/main.ts': "import { execSync } from 'node:child_process';" },
    { 'pty/launch/launch.ts': 'spawn(command, { shell: true });' },
    { 'actors/daemon/api.ts': 'serve({ port: 8080 });' },
  ],
  allowed: [
    { 'inspect/web.ts': 'serve({ port: 0 });', 'cli/main.ts': "import { execFile } from 'node:child_process';" },
  ],
};

export const planeRules: readonly Rule[] = [goalsAreBlind, fenced, oneProgram];
