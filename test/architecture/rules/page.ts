import { importsOf } from '../imports.ts';
import { productionScripts } from '../project.ts';
import { finding, type Rule } from '../rule.ts';
import { child, memberOf, nameOf, nodesOfType } from '../syntax.ts';

const page = 'inspect/web/';
/** Only their types: a page that shared code with the daemon would ship the daemon's libraries to the browser. */
const sharedTypes = /^(inspect\/(server|explain|diagrams|web)\/|actors\/daemon\/api\/)/;
const shared = /^inspect\/(web\/|server\/contract\.ts$)/;
const packages = ['preact', '@preact/signals', '@xterm/xterm'];

const pageImports: Rule = {
  name: 'the page is made of its own modules, and knows of the daemon what the contract with it says',
  check(files) {
    return productionScripts(files, page).flatMap((file) =>
      importsOf(file)
        .filter(({ internal, target, typeOnly }) =>
          internal
            ? !(typeOnly ? sharedTypes : shared).test(target)
            : !packages.some((name) => target === name || target.startsWith(`${name}/`)),
        )
        .map((one) => finding(file, one.line, `a browser cannot have ${one.target}`)),
    );
  },
  caught: [
    { 'inspect/web/fleet/fleet.tsx': "import { createServer } from '../../server/server.ts';" },
    { 'inspect/web/fleet/fleet.tsx': "import { readFileSync } from 'node:fs';" },
    { 'inspect/web/fleet/fleet.tsx': "import type { Store } from '../../../persistence/store.ts';" },
    { 'inspect/web/fleet/fleet.tsx': "import { z } from 'zod';" },
  ],
  allowed: [
    {
      'inspect/web/a.tsx':
        "import { signal } from '@preact/signals'; import { render } from 'preact'; import { useState } from 'preact/hooks'; import './b.ts'; import type { X } from '../server/contract.ts';",
    },
  ],
};

/** Ways of making markup or code out of text. What a workload wrote is text and stays that. */
const parsing = new Set([
  ...['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'dangerouslySetInnerHTML', 'createContextualFragment'],
  ...['srcdoc', 'setHTMLUnsafe', 'parseFromString'],
]);
const running = new Set(['eval', 'Function']);

const textStaysText: Rule = {
  name: 'the page makes neither markup nor code out of text',
  check(files) {
    return productionScripts(files, page).flatMap((file) => [
      ...nodesOfType(file, 'MemberExpression')
        .filter((node) => parsing.has(memberOf(node)?.property ?? ''))
        .map((node) => finding(file, node, 'show it as a text node')),
      ...nodesOfType(file, 'JSXAttribute')
        .filter((node) => parsing.has(String(child(node, 'name')?.name)))
        .map((node) => finding(file, node, 'show it as a text node')),
      ...nodesOfType(file, 'CallExpression', 'NewExpression')
        .filter((node) => running.has(nameOf(child(node, 'callee')) ?? ''))
        .map((node) => finding(file, node, 'text is not a program')),
      ...nodesOfType(file, 'MemberExpression')
        .filter((node) => memberOf(node)?.object === 'document' && memberOf(node)?.property === 'write')
        .map((node) => finding(file, node, 'show it as a text node')),
    ]);
  },
  caught: [
    { 'inspect/web/a.ts': 'element.innerHTML = name;' },
    { 'inspect/web/a.ts': "element.insertAdjacentHTML('beforeend', name);" },
    { 'inspect/web/a.tsx': 'const a = <p dangerouslySetInnerHTML={{ __html: name }} />;' },
    { 'inspect/web/a.tsx': 'const a = <iframe srcdoc={name} />;' },
    { 'inspect/web/a.ts': "new Function('return 1')();" },
    { 'inspect/web/a.ts': 'document.write(name);' },
  ],
  allowed: [{ 'inspect/web/a.tsx': 'const a = <p title={name}>{name}</p>; element.textContent = name;' }],
};

const persistent = new Set(['indexedDB', 'caches', 'cookieStore']);
const elsewhere = /^(https?|wss?):\/\//;

const staysAtHome: Rule = {
  name: 'the page names no other host and keeps nothing of what it was shown',
  check(files) {
    return productionScripts(files, page).flatMap((file) => [
      ...nodesOfType(file, 'Literal')
        .filter(({ value }) => typeof value === 'string' && elsewhere.test(value) && !value.includes('www.w3.org'))
        .map((node) => finding(file, node, 'the page works without a network')),
      ...nodesOfType(file, 'Identifier')
        .filter((node) => persistent.has(nameOf(node) ?? ''))
        .map((node) => finding(file, node, 'what the daemon says is not kept in a browser')),
    ]);
  },
  caught: [{ 'inspect/web/a.ts': "fetch('https://example.org/a');" }, { 'inspect/web/a.ts': "indexedDB.open('a');" }],
  allowed: [{ 'inspect/web/a.ts': "fetch('api/fleet'); const ns = 'http://www.w3.org/2000/svg';" }],
};

export const pageRules: readonly Rule[] = [pageImports, textStaysText, staysAtHome];
