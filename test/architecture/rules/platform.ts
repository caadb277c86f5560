import { importsOf } from '../imports.ts';
import { productionScripts, type SourceFile } from '../project.ts';
import { finding, type Rule } from '../rule.ts';
import { child, children, memberOf, nameOf, nodesOfType, parentOf, type SyntaxNode, textsOf } from '../syntax.ts';

/** Where Linux is known, and the function that picks it. */
const adapter = /^actors\/observe\/(linux\/|select\.ts)/;
const observers = 'actors/observe/';
const entryModules = ['cli/main.ts', 'cli/daemon.ts', 'cli/observe.ts'];

const pickedAtTheEntry: Rule = {
  name: 'a platform adapter is picked by an entry module and imported nowhere else (ID-04)',
  check(files) {
    return productionScripts(files)
      .filter((file) => !file.path.startsWith(observers) && !entryModules.includes(file.path))
      .flatMap((file) =>
        importsOf(file)
          .filter((one) => !one.typeOnly && adapter.test(one.target))
          .map((one) => finding(file, one.line, `${one.target} is for ${entryModules.join(' and ')} alone`)),
      );
  },
  caught: [
    { 'actors/daemon/root.ts': "import { createLinuxAdapter } from '../observe/linux/adapter.ts';" },
    { 'inspect/explain.ts': "import { selectAdapter } from '../actors/observe/select.ts';" },
    { 'cli/commands/doctor.ts': "import { readStat } from '../../actors/observe/linux/stat.ts';" },
  ],
  allowed: [
    {
      'cli/daemon.ts': "import { selectAdapter } from '../actors/observe/select.ts';",
      'actors/observe/select.ts': "import { createLinuxAdapter } from './linux/adapter.ts';",
      'actors/daemon/root.ts': "import type { LinuxAdapter } from '../observe/linux/adapter.ts';",
    },
  ],
};

const procfs: Rule = {
  name: 'only the observers read about other processes in /proc',
  check(files) {
    return productionScripts(files)
      .filter((file) => !file.path.startsWith(observers))
      .flatMap((file) =>
        textsOf(file)
          .filter(({ text }) => /^\/proc\b(?!\/self\/|\/sys\/|\/thread-self$)/.test(text))
          .map(({ node }) => finding(file, node, 'ask an adapter in actors/observe')),
      );
  },
  caught: [
    { 'actors/daemon/root.ts': "readFileSync('/proc/uptime');" },
    { 'pty/launch/launch.ts': 'readFileSync(`/proc/$' + '{pid}/stat`);' },
    { 'cli/main.ts': "join('/proc', 'stat');" },
    { 'cli/main.ts': "readFileSync('/proc/thread-self/../1/stat');" },
  ],
  allowed: [
    { 'pty/screen/worker.ts': "readlinkSync('/proc/thread-self'); readFileSync('/proc/sys/kernel/random/boot_id');" },
    { 'pty/launch/control.ts': "open('/proc/self/fd/7');", 'actors/observe/linux/proc.ts': "join('/proc', pid);" },
  ],
};

/** Evidence whose form only the adapter knows (ID-02). */
const opaque = new Set(['processToken', 'namespace', 'adapterEvidence']);
const parsers = new Set(['Number', 'BigInt', 'parseInt', 'parseFloat', 'Date']);
const equality = new Set(['===', '!==']);

const opaqueEvidence: Rule = {
  name: 'process tokens are compared for equality, never parsed, ordered or taken for a time (ID-02)',
  check(files) {
    return productionScripts(files)
      .filter((file) => !adapter.test(file.path))
      .flatMap((file) =>
        nodesOfType(file, 'MemberExpression', 'Identifier')
          .filter((node) => opaque.has(memberOf(node)?.property ?? nameOf(node) ?? ''))
          .filter((node) => looksInside(file, node))
          .map((node) => finding(file, node, 'this text is opaque outside the platform adapter')),
      );
  },
  caught: [
    { 'machines/identity.ts': 'const t = Number(id.processToken);' },
    { 'machines/identity.ts': 'const t = new Date(id.processToken);' },
    { 'machines/identity.ts': 'const older = a.processToken < b.processToken;' },
    { 'actors/host/host.ts': "const [pid] = id.namespace.split(',');" },
    { 'cli/status.ts': 'const n = +id.adapterEvidence;' },
    { 'cli/status.ts': 'const { processToken } = id; BigInt(processToken);' },
    { 'machines/identity.ts': 'const same = a.processToken == b.processToken;' },
  ],
  allowed: [
    {
      'machines/identity.ts':
        'const same = a.processToken === b.processToken && sameSet(a.namespace); hash({ token: a.processToken });',
      'actors/observe/linux/adapter.ts': 'const ticks = BigInt(id.processToken);',
    },
  ],
};

function looksInside(file: SourceFile, node: SyntaxNode): boolean {
  const parent = parentOf(file, node);
  if (parent === undefined) return false;
  if (parent.type === 'MemberExpression') return child(parent, 'object') === node;
  if (parent.type === 'BinaryExpression') return !equality.has(String(parent.operator));
  if (parent.type === 'UnaryExpression') return parent.operator !== '!' && parent.operator !== 'typeof';
  const calls = parent.type === 'CallExpression' || parent.type === 'NewExpression';
  return calls && children(parent, 'arguments').includes(node) && parsers.has(nameOf(child(parent, 'callee')) ?? '');
}

export const platformRules: readonly Rule[] = [pickedAtTheEntry, procfs, opaqueEvidence];
