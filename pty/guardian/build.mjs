// Compiles the guardian with the machine's own C compiler: `node build.mjs`, the package's install script, or the first
// launch that finds no executable. Plain Node without dependencies, because it runs before anything else is there.
//
//   node build.mjs [--out DIR] [--define NAME]...     prints nothing when the executable is already up to date
//
// Exit: 0 built or up to date, 69 no compiler, 1 the compiler failed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));

/**
 * What is compiled: all C files of `directory`, and `shared` ones of this one, into an executable called `name`.
 * @typedef {{ name: string, what: string, directory: string, shared: readonly string[] }} Program
 */
const guardianProgram = { name: 'custody-guardian', what: 'the guardian', directory: here, shared: [] };

const flags = [
  '-std=c11',
  '-D_GNU_SOURCE',
  '-O2',
  '-fstack-protector-strong',
  '-Wall',
  '-Wextra',
  '-Wshadow',
  '-Wstrict-prototypes',
  '-Wmissing-prototypes',
  '-Wvla',
  '-Wundef',
  '-Wpointer-arith',
  '-Wcast-align',
];

export class GuardianBuildError extends Error {
  /** @param {'compiler_missing' | 'compile_failed'} code @param {string} message @param {number} exitCode */
  constructor(code, message, exitCode) {
    super(message);
    this.name = 'GuardianBuildError';
    this.code = code;
    this.exitCode = exitCode;
  }
}

const sources = ({ directory, shared }) => [
  ...readdirSync(directory)
    .filter((name) => /\.[ch]$/.test(name))
    .sort()
    .map((name) => join(directory, name)),
  ...shared.map((name) => join(here, name)),
];

/** SHA-256 over names and bytes of all C sources: the build id that the executable carries and `version` prints. */
export function sourcesDigest(program = guardianProgram) {
  const hash = createHash('sha256');
  for (const path of sources(program)) hash.update(basename(path)).update('\0').update(readFileSync(path)).update('\0');
  return hash.digest('hex');
}

/** What the executable was made from, kept beside it; another value means that it must be made anew. */
function isCurrent(target, stamp) {
  const stampFile = `${target}.stamp`;
  return existsSync(target) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
}

/** `CC` as make(1) reads it, words (`ccache cc`), unless it is the path of one file. */
const compilerOf = (cc) => (existsSync(cc) ? [cc] : cc.trim().split(/\s+/));

function compile({ program, output, build, defines, linkage, quick }) {
  const cc = process.env.CC || 'cc';
  const [file, ...words] = compilerOf(cc);
  const args = [...words, ...flags, ...linkage, `-DCUSTODY_BUILD="${build}"`, ...defines.map((name) => `-D${name}`)];
  if (process.env.CI === 'true') args.push('-Werror');
  if (quick) args.push('-O0');
  const units = sources(program).filter((path) => path.endsWith('.c'));
  const result = spawnSync(file, [...args, '-o', output, ...units], { cwd: program.directory, encoding: 'utf8' });
  // EACCES: not found either, in a PATH with folders that this user may not search.
  if (['ENOENT', 'EACCES'].includes(result.error?.code)) {
    throw new GuardianBuildError(
      'compiler_missing',
      `custody needs a C compiler to build ${program.what}, and \`${cc}\` was not found.\n` +
        'Install one (Debian, Ubuntu: apt install gcc libc6-dev; Fedora: dnf install gcc; Alpine: apk add gcc musl-dev),\n' +
        'then run: npm rebuild custody',
      69,
    );
  }
  return result.status === 0 ? undefined : result.stderr || String(result.error ?? `signal ${result.signal}`);
}

/**
 * Builds into `outDir` unless the executable there is made from the same sources and switches; returns its path.
 * Static where that links (a third of the start-up time, fewer pages), dynamic otherwise. The finished file is renamed
 * into place, so concurrent builds and running guardians are undisturbed. `quick` is for variants that only tests use.
 */
export function buildExecutable({ program, outDir, defines = [], quick = false }) {
  const build = sourcesDigest(program);
  const stamp = [build, ...defines].join(' ');
  const target = join(outDir, program.name);
  if (isCurrent(target, stamp)) return target;
  // Explicit modes, whatever the umask of whoever installs: other users of the machine run this executable too.
  if (mkdirSync(outDir, { recursive: true }) !== undefined) chmodSync(outDir, 0o755);
  const fresh = join(outDir, `${program.name}.${process.pid}`);
  try {
    const request = { program, output: fresh, build, defines, quick };
    const failure = compile({ ...request, linkage: ['-static', '-s'] }) && compile({ ...request, linkage: ['-s'] });
    if (failure) throw new GuardianBuildError('compile_failed', `${program.what} does not compile:\n${failure}`, 1);
    if (isCurrent(target, stamp)) return target; // somebody else was quicker: leave the file whose inode is in use
    writeFileSync(`${fresh}.stamp`, stamp);
    chmodSync(fresh, 0o755);
    chmodSync(`${fresh}.stamp`, 0o644);
    renameSync(fresh, target);
    renameSync(`${fresh}.stamp`, `${target}.stamp`);
  } finally {
    rmSync(fresh, { force: true });
  }
  return target;
}

/** The guardian, in the same way. */
export const buildGuardian = (options) => buildExecutable({ ...options, program: guardianProgram });

function isWritable(directory) {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The path of an executable that matches the sources, built now if it must be. A package that somebody else installed
 * cannot be written to; then the executable lives in the user's own cache.
 */
export function ensureGuardian() {
  const inPackage = join(here, 'build');
  const installed = join(inPackage, guardianProgram.name);
  if (isCurrent(installed, sourcesDigest())) return installed;
  if (isWritable(existsSync(inPackage) ? inPackage : here)) return buildGuardian({ outDir: inPackage });
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return buildGuardian({ outDir: join(cache, 'custody', `guardian-${sourcesDigest().slice(0, 16)}`) });
}

function main(args) {
  const options = { outDir: join(here, 'build'), defines: [] };
  for (let at = 0; at < args.length; at += 2) {
    if (args[at] === '--out') options.outDir = resolve(args[at + 1]);
    else if (args[at] === '--define') options.defines.push(args[at + 1]);
    else throw new GuardianBuildError('compile_failed', `unknown option ${args[at]}`, 1);
  }
  buildGuardian(options);
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof GuardianBuildError)) throw error;
    console.error(error.message);
    process.exitCode = error.exitCode;
  }
}
