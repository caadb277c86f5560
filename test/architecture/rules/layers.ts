import { cyclesIn, importGraph, importsOf, packageOf } from '../imports.ts';
import { isProduction, isScript, type productionFolders, productionScripts } from '../project.ts';
import { finding, type Rule } from '../rule.ts';

type Folder = (typeof productionFolders)[number];

/** Which folders a folder may import besides itself. Types count: who needs another's types depends on it. */
const mayImport: Readonly<Record<Folder, readonly Folder[]>> = {
  machines: [],
  persistence: ['machines'],
  pty: ['machines'],
  actors: ['machines', 'persistence', 'pty'],
  inspect: ['machines', 'persistence', 'pty', 'actors'],
  cli: ['machines', 'persistence', 'pty', 'actors', 'inspect'],
};

/** Outside every folder, and read for the version alone. */
const manifest = 'package.json';

/** Code that does not ship, and so may not be imported by code that does. */
const besideProduction = ['test', 'bench', 'docs', '.ci'];

/** The one place where the value of a package may be imported. */
const home: Readonly<Record<string, string>> = {
  rxjs: 'actors/observe/',
  'better-sqlite3': 'persistence/',
  commander: 'cli/',
};

function folderOf(path: string): string {
  return path.split('/')[0] ?? '';
}

const direction: Rule = {
  name: 'imports point from cli towards machines, never back, and persistence and pty never meet',
  check(files) {
    return productionScripts(files).flatMap((file) => {
      const own = folderOf(file.path) as Folder;
      const allowed: readonly string[] = [own, ...mayImport[own]];
      return importsOf(file)
        .filter((one) => one.internal && !allowed.includes(folderOf(one.target)) && one.target !== manifest)
        .map((one) => finding(file, one.line, `${own}/ may not import ${one.target}`));
    });
  },
  caught: [
    { 'machines/goal.ts': "import type { Store } from '../persistence/store.ts';" },
    { 'persistence/store.ts': "import { launch } from '../pty/launch/launch.ts';" },
    { 'pty/launch/launch.ts': "export { open } from '../../persistence/store.ts';" },
    { 'actors/host/host.ts': "const late = await import('../../cli/main.ts');" },
    { 'actors/host/host.ts': "type View = import('../../inspect/view.ts').View;" },
    { 'cli/main.ts': "import { eventually } from '../test/support/eventually.ts';" },
    { 'cli/main.ts': "import data from '../../elsewhere/data.json';" },
  ],
  allowed: [
    {
      'cli/main.ts':
        "import { a } from '../inspect/a.ts'; import { b } from '../pty/b.ts'; // import x from '../test/x.ts'",
      'actors/host/host.ts': "import { c } from '../../persistence/c.ts'; const text = \"from '../../cli/main.ts'\";",
    },
  ],
};

const knownFolders: Rule = {
  name: 'code lives in a folder that has a place in the import order',
  check(files) {
    return files
      .filter((file) => isScript(file) && file.path.includes('/') && !isProduction(file))
      .filter((file) => !besideProduction.includes(folderOf(file.path)))
      .map((file) => finding(file, 1, `no rule says who may import ${folderOf(file.path)}/`));
  },
  caught: [{ 'services/queue.ts': '' }],
  allowed: [{ 'bench/events.ts': '', 'build.mjs': '' }],
};

const homes: Rule = {
  name: 'rxjs, better-sqlite3 and commander each have one home',
  check(files) {
    return productionScripts(files).flatMap((file) =>
      importsOf(file)
        .filter((one) => !one.internal && !one.typeOnly)
        .filter((one) => !file.path.startsWith(home[packageOf(one.target)] ?? ''))
        .map((one) => finding(file, one.line, `${one.target} belongs in ${home[packageOf(one.target)]}`)),
    );
  },
  caught: [
    { 'actors/daemon/root.ts': "import { from } from 'rxjs';" },
    { 'actors/host/host.ts': "import { map } from 'rxjs/operators';" },
    { 'cli/status.ts': "import Database from 'better-sqlite3';" },
    { 'actors/daemon/main.ts': "import { Command } from 'commander';" },
  ],
  allowed: [
    {
      'actors/observe/watch.ts': "import { Observable } from 'rxjs';",
      'actors/host/host.ts': "import type Database from 'better-sqlite3';",
    },
  ],
};

const noCycles: Rule = {
  name: 'no module imports itself through others',
  check(files) {
    const scripts = files.filter(isScript);
    return cyclesIn(importGraph(scripts, 'all')).map((members) => ({
      path: members[0] ?? '',
      line: 1,
      message: `import cycle: ${members.join(' → ')}`,
    }));
  },
  caught: [
    { 'machines/a.ts': "import './b.ts';", 'machines/b.ts': "import type { A } from './a.ts';" },
    {
      'test/a.ts': "import './b.ts';",
      'test/b.ts': "import { c } from './c.ts';",
      'test/c.ts': "export * from './a.ts';",
    },
    { 'machines/a.ts': "import './a.ts';" },
  ],
  allowed: [{ 'machines/a.ts': "import './b.ts'; import './c.ts';", 'machines/b.ts': "import './c.ts';" }],
};

/** `actors/drain/scope.ts` → `actors/drain`; undefined for what lies beside the subfolders. */
function actorFolderOf(path: string): string | undefined {
  return /^actors\/[^/]+(?=\/)/.exec(path)?.[0];
}

const actorFolders: Rule = {
  name: 'no folder of actors/ imports itself through others',
  check(files) {
    const graph = new Map<string, Set<string>>();
    for (const file of productionScripts(files, 'actors/')) {
      const own = actorFolderOf(file.path);
      if (own === undefined) continue;
      const targets = importsOf(file).flatMap(({ target }) => actorFolderOf(target) ?? []);
      graph.set(own, new Set([...(graph.get(own) ?? []), ...targets.filter((target) => target !== own)]));
    }
    return cyclesIn(graph).map((members) => ({
      path: members[0] ?? '',
      line: 1,
      message: `folder cycle: ${members.join(' → ')}`,
    }));
  },
  caught: [
    {
      'actors/daemon/start.ts': "import { drain } from '../drain/scope.ts';",
      'actors/drain/scope.ts': "import type { Runtime } from '../daemon/runtime.ts';",
    },
    {
      'actors/drain/scope.ts': "import '../runtime/places.ts';",
      'actors/runtime/runtime.ts': "import '../daemon/api/views.ts';",
      'actors/daemon/start.ts': "import '../drain/witnesses.ts';",
    },
  ],
  allowed: [
    {
      'actors/daemon/start.ts': "import '../drain/scope.ts'; import '../runtime/runtime.ts'; import './api/views.ts';",
      'actors/daemon/api/views.ts': "import '../health.ts';",
      'actors/drain/scope.ts': "import '../runtime/runtime.ts';",
    },
  ],
};

/** What its process is made of: what it says, how it launches, and where it finds the daemon. */
const workerMayImport = ['actors/worker/', 'actors/runtime/places.ts', 'machines/', 'pty/launch/'];

const workerOnlyAsks: Rule = {
  name: 'the scheduling worker reaches no store and no actor: it asks the daemon, and acts on what was committed (WRK-07)',
  check(files) {
    return productionScripts(files, 'actors/worker/').flatMap((file) =>
      importsOf(file)
        .filter((one) => one.internal && !workerMayImport.some((place) => one.target.startsWith(place)))
        .map((one) => finding(file, one.line, `the worker may not import ${one.target}`)),
    );
  },
  caught: [
    { 'actors/worker/worker.ts': "import { openStore } from '../../persistence/store.ts';" },
    { 'actors/worker/worker.ts': "import type { Host } from '../host/api.ts';" },
    { 'actors/worker/launches.ts': "import { draft } from '../runtime/submission.ts';" },
  ],
  allowed: [
    {
      'actors/worker/worker.ts': "import './messages.ts'; import { open } from '../../pty/launch/captureReading.ts';",
      'actors/daemon/worker/door.ts': "import { openStore } from '../../../persistence/store.ts';",
    },
  ],
};

export const layerRules: readonly Rule[] = [direction, knownFolders, homes, noCycles, actorFolders, workerOnlyAsks];
