import { importsOf, packageOf } from '../imports.ts';
import { productionScripts, type SourceFile } from '../project.ts';
import { type Finding, finding, type Rule } from '../rule.ts';

interface Manifest {
  readonly bin?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function manifestOf(files: readonly SourceFile[]): { file: SourceFile; manifest: Manifest } | undefined {
  const file = files.find(({ path }) => path === 'package.json');
  return file === undefined ? undefined : { file, manifest: JSON.parse(file.text) as Manifest };
}

const exactVersions: Rule = {
  name: 'every dependency has one exact version',
  check(files) {
    const found = manifestOf(files);
    if (found === undefined) return [missing];
    const { dependencies = {}, devDependencies = {} } = found.manifest;
    return [...Object.entries(dependencies), ...Object.entries(devDependencies)]
      .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      .map(([name, version]) => finding(found.file, 1, `${name}: ${version} is not one version`));
  },
  caught: [
    {},
    { 'package.json': '{"dependencies":{"zod":"^4.0.0"}}' },
    { 'package.json': '{"devDependencies":{"vitest":"latest"}}' },
    { 'package.json': '{"dependencies":{"zod":"4.x"}}' },
  ],
  allowed: [{ 'package.json': '{"dependencies":{"zod":"4.6.7"},"devDependencies":{"a":"1.0.0-rc.1"}}' }],
};

const missing: Finding = { path: 'package.json', line: 1, message: 'there is no package.json' };

const shippedDependencies: Rule = {
  name: 'what ships imports only what the package depends on',
  check(files) {
    const declared = manifestOf(files)?.manifest.dependencies ?? {};
    return productionScripts(files).flatMap((file) =>
      importsOf(file)
        .filter((one) => !one.internal && !one.typeOnly && !one.target.startsWith('node:'))
        .filter((one) => !(packageOf(one.target) in declared) && !buildTools(file))
        .map((one) => finding(file, one.line, `${one.target} is not among the dependencies`)),
    );
  },
  caught: [
    { 'package.json': '{"devDependencies":{"esbuild":"1.0.0"}}', 'cli/a.ts': "import { build } from 'esbuild';" },
    { 'package.json': '{}', 'cli/a.ts': "import fs from 'fs';" },
  ],
  allowed: [
    {
      'package.json': '{"dependencies":{"@xstate/store":"4.2.3"}}',
      'actors/a.ts':
        "import { createAtom } from '@xstate/store'; import 'node:fs'; import type { X } from 'type-fest';",
    },
  ],
};

function buildTools(file: SourceFile): boolean {
  return /(^|\/)build\.mjs$/.test(file.path);
}

const atInstall = ['preinstall', 'install', 'postinstall', 'prepare', 'prepack', 'postpack', 'prepublish'];
const builds = new Set(['node build.mjs', 'node pty/build.mjs']);
/** The program, and the client with which launchers tell it something: it starts nothing and decides nothing (INT-04). */
const client = 'custody-note';
/** Programs of their own, because the command line may not be able to do what they do (WT-07). */
const executors = ['custody-archive', 'custody-remove'];
const commands = ['custody', client, ...executors];

const quietInstall: Rule = {
  name: 'one package with one command, its client and its executors, and installing it only builds (INT-10, INT-13)',
  check(files) {
    const found = manifestOf(files);
    if (found === undefined) return [missing];
    const { bin = {}, scripts = {} } = found.manifest;
    const others = files.filter(({ path }) => /\/package\.json$/.test(path) && !/(^|\/)fixtures\//.test(path));
    return [
      ...(Object.keys(bin).every((name) => commands.includes(name)) && bin.custody !== undefined
        ? []
        : [finding(found.file, 1, `the commands are ${commands.join(' and ')}`)]),
      ...atInstall
        .filter((name) => scripts[name] !== undefined && !builds.has(scripts[name]))
        .map((name) => finding(found.file, 1, `${name} does more than build`)),
      ...others.map((file) => finding(file, 1, 'a second package')),
    ];
  },
  caught: [
    {},
    { 'package.json': '{"bin":{"custody":"a","custodyd":"b"}}' },
    { 'package.json': '{"bin":{"custody-note":"a"}}' },
    { 'package.json': '{"bin":{"custody":"a"},"scripts":{"postinstall":"custody daemon start"}}' },
    { 'package.json': '{"bin":{"custody":"a","custody-seal":"b"}}' },
    { 'package.json': '{"bin":{"custody":"a"}}', 'pty/package.json': '{}' },
  ],
  allowed: [
    { 'package.json': '{"bin":{"custody":"a"},"scripts":{"prepare":"node build.mjs","start":"node a"}}' },
    { 'package.json': '{"bin":{"custody":"a","custody-note":"b"},"scripts":{"install":"node pty/build.mjs"}}' },
  ],
};

export const packageRules: readonly Rule[] = [exactVersions, shippedDependencies, quietInstall];
