import { importsOf } from '../imports.ts';
import { productionScripts } from '../project.ts';
import { finding, type Rule } from '../rule.ts';

const adapter = 'pty/note/';
/** How its C is compiled. */
const builder = 'pty/guardian/build.mjs';

const noRules: Rule = {
  name: 'what launchers call holds no rule: it imports nothing but Node (INT-04)',
  check(files) {
    return productionScripts(files, adapter).flatMap((file) =>
      importsOf(file)
        .filter(({ target }) => !target.startsWith('node:') && !target.startsWith(adapter) && target !== builder)
        .map((one) => finding(file, one.line, `the adapter may not import ${one.target}`)),
    );
  },
  caught: [
    { 'pty/note/adapter.ts': "import { runEvents } from '../../machines/events/run.ts';" },
    { 'pty/note/adapter.ts': "import type { Note } from '../../machines/note.ts';" },
    { 'pty/note/client.ts': "import { z } from 'zod';" },
  ],
  allowed: [
    {
      'pty/note/adapter.ts':
        "import { spawnSync } from 'node:child_process'; import { noteClient } from './client.ts';",
      'pty/note/build.mjs': "import { buildExecutable } from '../guardian/build.mjs';",
      'pty/launch/launch.ts': "import { z } from 'zod';",
    },
  ],
};

export const noteRules: readonly Rule[] = [noRules];
