import { codeOfC } from '../c.ts';
import { isC, isScript, productionScripts, type SourceFile } from '../project.ts';
import { type Finding, finding, matchingLines, type Rule } from '../rule.ts';
import { child, children, memberOf, nameOf, nodesOfType, parentOf, type SyntaxNode, textsOf } from '../syntax.ts';

/** Asking whether a process exists (signal 0) is the observer's; sending is the guardian's, by verified identity. */
const probeFolder = 'actors/observe/';

/** Modules that signal a child of their own that nobody has reaped yet, so that its pid cannot be another's. */
const ownChild: Readonly<Record<string, string>> = {
  'cli/commands/daemon.ts': 'hands the signals of its terminal to the daemon that it keeps in the foreground',
};

const guardiansSend: Rule = {
  name: 'no TypeScript that ships sends a signal (SHUT-04): guardians do, to verified identities',
  check(files) {
    return productionScripts(files).flatMap((file) =>
      [...killUses(file), ...borrowedKills(file)]
        .filter((use) => !(file.path.startsWith(probeFolder) && isProbe(file, use)))
        .filter((use) => !(file.path in ownChild && memberOf(use)?.object === 'child'))
        .filter((use) => !isOfItself(file, use))
        .map((use) => finding(file, use, 'ask the guardian for this')),
    );
  },
  caught: [
    { 'actors/daemon/stop.ts': "process.kill(pid, 'SIGTERM');" },
    { 'actors/daemon/stop.ts': 'process.kill(pid, 0);' },
    { 'actors/observe/probe.ts': 'process.kill(pid, 9);' },
    { 'actors/observe/probe.ts': 'process.kill(pid);' },
    { 'pty/launch/launch.ts': 'child.kill();' },
    { 'cli/commands/daemon.ts': "process.kill(pid, 'SIGTERM');" },
    { 'cli/main.ts': "globalThis.process['kill'](pid, 15);" },
    { 'cli/main.ts': "import { kill } from 'node:process';" },
    { 'cli/main.ts': 'const { kill } = process;' },
    { 'cli/main.ts': 'process.kill(process.ppid, 15); child.kill(process.pid);' },
  ],
  allowed: [
    { 'cli/main.ts': "process.kill(process.pid, 'SIGSTOP');" },
    { 'actors/observe/probe.ts': 'process.kill(pid, 0);', 'cli/main.ts': "// process.kill(1)\nconst t = 'kill';" },
    { 'cli/commands/daemon.ts': 'child.kill(signal);' },
  ],
};

/** Every mention of a member named `kill`, called or not. */
function killUses(file: SourceFile): SyntaxNode[] {
  return nodesOfType(file, 'MemberExpression').filter((node) => memberOf(node)?.property === 'kill');
}

/** `kill` taken out of its object, by destructuring or by an import. */
function borrowedKills(file: SourceFile): SyntaxNode[] {
  const imported = nodesOfType(file, 'ImportSpecifier').filter((node) => nameOf(child(node, 'imported')) === 'kill');
  const taken = nodesOfType(file, 'ObjectPattern').flatMap((pattern) =>
    children(pattern, 'properties').filter((property) => nameOf(child(property, 'key')) === 'kill'),
  );
  return [...imported, ...taken];
}

function isProbe(file: SourceFile, use: SyntaxNode): boolean {
  const call = parentOf(file, use);
  return call?.type === 'CallExpression' && children(call, 'arguments')[1]?.value === 0;
}

/** A process cannot take itself for another one. */
function isOfItself(file: SourceFile, use: SyntaxNode): boolean {
  const call = parentOf(file, use);
  const target = call?.type === 'CallExpression' ? children(call, 'arguments')[0] : undefined;
  const of = target && memberOf(target);
  return memberOf(use)?.object === 'process' && of?.object === 'process' && of.property === 'pid';
}

const noGroups: Rule = {
  name: 'nobody, tests included, signals a group or everybody: no negative pid, no pid 0, no kill by name',
  check(files) {
    return files.filter(isScript).flatMap((file) => [...broadCalls(file), ...broadCommands(file)]);
  },
  caught: [
    { 'test/a.ts': "process.kill(-child.pid, 'SIGKILL');" },
    { 'test/a.ts': 'process.kill(0, 9);' },
    { 'bench/a.ts': 'process.kill(pid * -1);' },
    { 'test/a.ts': "spawnSync('killall', ['custody']);" },
    { 'test/a.ts': "execSync('kill -9 -- -12');" },
    { 'test/a.ts': 'execSync(`kill -TERM -$' + '{pid}`);' },
  ],
  allowed: [{ 'test/a.ts': "process.kill(child.pid, 'SIGKILL'); execSync('kill -9 12'); const s = 'overkill 0';" }],
};

function broadCalls(file: SourceFile): Finding[] {
  return nodesOfType(file, 'CallExpression')
    .filter((call) => memberOf(child(call, 'callee') ?? call)?.property === 'kill')
    .filter((call) => {
      const target = children(call, 'arguments')[0];
      const text = target === undefined ? '' : file.text.slice(target.start, target.end);
      return /^-|\*\s*-|^0$/.test(text);
    })
    .map((call) => finding(file, call, 'signal one process, by its own pid'));
}

const broad = /\b(pkill|killall)\b|\bkill\s+(-\S+\s+)?(--\s+)?0\b|\bkill\s+-\S+\s+(--\s+)?-|\bkill\s+--\s+-/;

function broadCommands(file: SourceFile): Finding[] {
  if (file.path.startsWith('test/architecture/')) return [];
  return textsOf(file)
    .filter(({ text }) => broad.test(text))
    .map(({ node }) => finding(file, node, 'signal one process, by its own pid'));
}

const cSignals: Rule = {
  name: 'C code signals through pidfds: no kill of a group or of everybody, no killpg',
  check(files) {
    return files
      .filter(isC)
      .flatMap((file) =>
        matchingLines(
          { path: file.path, text: codeOfC(file.text) },
          /\bkillpg\s*\(|\bkill\s*\(\s*(-|0\s*,)|SYS_kill\b/,
          'a signal needs a verified identity',
        ),
      );
  },
  caught: [
    { 'pty/guardian/end.c': 'kill(-pid, SIGKILL);' },
    { 'pty/guardian/end.c': 'kill(0, SIGTERM);' },
    { 'test/fixtures/a.c': 'killpg (group, 9);' },
    { 'pty/guardian/end.c': 'syscall(SYS_kill, pid, 9);' },
  ],
  allowed: [
    { 'pty/guardian/end.c': '/* kill(-1, 9) */ // killpg(1)\nputs("kill(0, 1)"); pidfd_send_signal(fd, 9, 0, 0);' },
  ],
};

export const signalRules: readonly Rule[] = [guardiansSend, noGroups, cSignals];
