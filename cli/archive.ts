#!/usr/bin/env node
/** The executor `custody-archive`. */
import { runExecutor } from './executing.ts';

void runExecutor(
  { name: 'custody-archive', does: 'Moves a sealed worktree into an archive, with what git had recorded of it.' },
  process.argv.slice(2),
);
