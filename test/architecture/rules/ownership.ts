import { importsOf } from '../imports.ts';
import { productionScripts, type SourceFile } from '../project.ts';
import { finding, type Rule } from '../rule.ts';
import { child, nameOf, nodesOfType, parentOf, type SyntaxNode } from '../syntax.ts';

const home = 'machines/assessment.ts';
const name = 'assessOwnership';

const oneFunction: Rule = {
  name: 'one function says what evidence means: assessOwnership, declared once, in machines/assessment.ts (OWN-01)',
  check(files) {
    const declared = productionScripts(files).flatMap((file) =>
      nodesOfType(file, 'FunctionDeclaration', 'VariableDeclarator')
        .filter((node) => nameOf(child(node, 'id')) === name)
        .map((node) => ({ file, node })),
    );
    const atHome = declared.filter(({ file }) => file.path === home);
    const strays = declared
      .filter(({ file }) => file.path !== home)
      .map(({ file, node }) => finding(file, node, 'a second one'));
    return atHome.length === 1
      ? strays
      : [...strays, { path: home, line: 1, message: `${atHome.length} declarations` }];
  },
  caught: [
    { 'machines/assessment.ts': 'export const other = 1;' },
    {
      'machines/assessment.ts': 'export function assessOwnership() {}',
      'cli/status.ts': 'const assessOwnership = () => 1;',
    },
  ],
  allowed: [
    {
      'machines/assessment.ts': 'export function assessOwnership() {}',
      'cli/status.ts': "import { assessOwnership } from '../machines/assessment.ts'; assessOwnership(s);",
    },
  ],
};

/** The three verdicts, and the states of a scope's chart from which only the assessment may draw one. */
const verdicts = new Set(['exited', 'unverified']);
const provedStates = new Set(['exitedProved', 'neverLaunched']);

const noSecondReading: Rule = {
  name: 'outside machines/ nobody draws an ownership verdict from a chart state, or makes one up (OWN-01, OWN-11)',
  check(files) {
    return (
      productionScripts(files)
        // The checker is the judge of the assessment, so it may not ask it.
        .filter((file) => !file.path.startsWith('machines/') && !file.path.startsWith('inspect/verify/'))
        .flatMap((file) =>
          nodesOfType(file, 'Literal')
            .filter((node) => madeUpVerdict(file, node) || readState(file, node))
            .map((node) => finding(file, node, 'ask assessOwnership')),
        )
    );
  },
  caught: [
    { 'actors/observe/watch.ts': "const verdict = { state: 'exited', proof };" },
    { 'cli/status.ts': "const view = { state: 'unverified' };" },
    { 'actors/daemon/seal.ts': "if (snapshot.value.coverage === 'exitedProved') seal();" },
    { 'cli/status.ts': "switch (coverage) { case 'neverLaunched': break; }" },
  ],
  allowed: [
    {
      'cli/status.ts':
        "type View = { state: 'exited' } | { coverage: 'exitedProved' }; if (verdict.state === 'unverified') warn(); const r = { how: 'exited' };",
      'machines/scope.ts': "const s = { state: 'exited' };",
      'inspect/verify/facts.ts': "const isProved = (coverage: string) => coverage === 'exitedProved';",
    },
  ],
};

function madeUpVerdict(file: SourceFile, node: SyntaxNode): boolean {
  const property = parentOf(file, node);
  return (
    property?.type === 'Property' && nameOf(child(property, 'key')) === 'state' && verdicts.has(nameOf(node) ?? '')
  );
}

function readState(file: SourceFile, node: SyntaxNode): boolean {
  return provedStates.has(nameOf(node) ?? '') && parentOf(file, node)?.type !== 'TSLiteralType';
}

/** Who acts on ownership, and where. A consumer that moves takes its line with it. */
const consumers: Readonly<Record<string, RegExp>> = {
  admission: /^actors\/daemon\/launch\/admission\.ts$/,
  'status, processes and worktree protection': /^actors\/daemon\/views\/scopeView\.ts$/,
};

const asks = "import { assessOwnership } from '../../../machines/assessment.ts';";

const consumersAsk: Rule = {
  name: 'whoever acts on ownership or shows it asks the one assessment (OWN-01)',
  check(files) {
    return Object.entries(consumers).flatMap(([consumer, pattern]) => {
      const modules = productionScripts(files).filter((file) => pattern.test(file.path));
      if (modules.length === 0) return [{ path: String(pattern), line: 1, message: `where is ${consumer}?` }];
      return modules
        .filter((file) => !importsOf(file).some((one) => one.target === home && !one.typeOnly))
        .map((file) => finding(file, 1, `${consumer} does not ask ${home}`));
    });
  },
  caught: [
    {},
    { 'actors/daemon/launch/admission.ts': asks, 'actors/daemon/views/scopeView.ts': '' },
    {
      'actors/daemon/launch/admission.ts': "import type { Assessment } from '../../../machines/assessment.ts';",
      'actors/daemon/views/scopeView.ts': asks,
    },
  ],
  allowed: [{ 'actors/daemon/launch/admission.ts': asks, 'actors/daemon/views/scopeView.ts': asks }],
};

export const ownershipRules: readonly Rule[] = [oneFunction, noSecondReading, consumersAsk];
