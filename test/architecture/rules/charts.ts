import { importsOf } from '../imports.ts';
import { productionScripts, type SourceFile } from '../project.ts';
import { type Finding, finding, type Rule } from '../rule.ts';
import { child, children, functionTypes, nameOf, nodesOfType, type SyntaxNode } from '../syntax.ts';

/**
 * What a persisted chart may not use (JRN-11): timers and children live outside its snapshot, so they would be lost by
 * a restart, and a direct send would happen before the commit.
 */
const live = new Set([
  ...['fromPromise', 'fromObservable', 'fromEventObservable', 'fromCallback', 'fromTransition', 'createActor'],
  ...['spawnChild', 'stopChild', 'sendTo', 'sendParent', 'forwardTo', 'cancel', 'emit', 'interpret', 'waitFor'],
]);

const noLiveParts: Rule = {
  name: 'persisted charts neither invoke, spawn, wait nor send (JRN-11)',
  check(files) {
    return productionScripts(files, 'machines/').flatMap((file) => [
      ...importsOf(file)
        .filter((one) => one.target === 'xstate')
        .flatMap((one) => one.names.filter((name) => live.has(name)).map((name) => finding(file, one.line, name))),
      ...nodesOfType(file, 'Property')
        .filter(isLiveKey)
        .map((node) => finding(file, node, `chart key ${keyOf(node)}`)),
      ...nodesOfType(file, 'CallExpression')
        .filter((node) => nameOf(child(node, 'callee')) === 'spawn')
        .map((node) => finding(file, node, 'spawn')),
    ]);
  },
  caught: [
    { 'machines/a.ts': "import { setup, fromPromise } from 'xstate';" },
    { 'machines/a.ts': "import { sendTo as tell } from 'xstate';" },
    { 'machines/a.ts': "const c = { states: { a: { invoke: { src: 'work' } } } };" },
    { 'machines/a.ts': "const c = { states: { a: { after: { 1000: 'b' } } } };" },
    { 'machines/a.ts': "const e = raise({ type: 'x' }, { delay: 10 });" },
    { 'machines/a.ts': 'const a = assign({ child: ({ spawn }) => spawn(machine) });' },
  ],
  allowed: [
    {
      'machines/a.ts': 'const change = { before, after }; const n = { after: change.after, invoke: a.invoke.map(f) };',
    },
    { 'actors/daemon/root.ts': "import { fromPromise } from 'xstate'; const c = { invoke: {}, after: {} };" },
  ],
};

function keyOf(property: SyntaxNode): string | undefined {
  return property.computed === true ? undefined : nameOf(child(property, 'key'));
}

/**
 * `after` is also a word for the later of two snapshots, and code that walks a chart makes lists named `invoke`; in a chart
 * the value of `after` is an object of delays, and that of `invoke` is no call.
 */
function isLiveKey(property: SyntaxNode): boolean {
  const value = child(property, 'value')?.type;
  switch (keyOf(property)) {
    case 'invoke':
      return value !== 'CallExpression';
    case 'after':
      return value === 'ObjectExpression';
    case 'delay':
      return true;
    default:
      return false;
  }
}

const behaviour = new Set(['guard', 'actions', 'entry', 'exit']);
const inlineTypes = new Set<string>(functionTypes);
const inlineCreators = new Set(['assign', 'raise', 'log', 'enqueueActions']);

const namedBehaviour: Rule = {
  name: 'a chart holds names of guards and actions, no functions: names survive into diagrams and other tools',
  check(files) {
    return productionScripts(files, 'machines/').flatMap(inlineBehaviour);
  },
  caught: [
    { 'machines/a.ts': "const c = { on: { 'run.ended': { guard: ({ context }) => context.open } } };" },
    { 'machines/a.ts': 'const c = { entry: assign({ n: 1 }) };' },
    { 'machines/a.ts': "const c = { actions: ['note', function () {}] };" },
    { 'machines/a.ts': "const c = { guard: and(['isOpen', ({ event }) => event.ok]) };" },
  ],
  allowed: [
    {
      'machines/a.ts':
        "const s = { guards: { isOpen: ({ context }) => context.open }, actions: { note: assign({ n: 1 }) } }; const c = { guard: and(['isOpen', not('isHeld')]), actions: [{ type: 'note', params: ({ event }) => event.id }] };",
    },
  ],
};

function inlineBehaviour(file: SourceFile): Finding[] {
  return nodesOfType(file, 'Property')
    .filter((node) => behaviour.has(keyOf(node) ?? ''))
    .flatMap((node) => parts(child(node, 'value')))
    .filter((node) => inlineTypes.has(node.type) || inlineCreators.has(nameOf(child(node, 'callee')) ?? ''))
    .map((node) => finding(file, node, 'move it into setup() and use its name'));
}

/** The single values of `x`, `[x, y]` and `and([x, y])`. */
function parts(value: SyntaxNode | undefined): SyntaxNode[] {
  if (value === undefined) return [];
  if (value.type === 'ArrayExpression') return children(value, 'elements').flatMap(parts);
  const combines =
    value.type === 'CallExpression' && ['and', 'or', 'not'].includes(nameOf(child(value, 'callee')) ?? '');
  return combines ? children(value, 'arguments').flatMap(parts) : [value];
}

export const chartRules: readonly Rule[] = [noLiveParts, namedBehaviour];
