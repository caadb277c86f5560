#!/usr/bin/env node
/** The executor `custody-remove`. */
import { runExecutor } from './executing.ts';

void runExecutor(
  { name: 'custody-remove', does: 'Removes a sealed worktree, and what git had recorded of it. Its branch stays.' },
  process.argv.slice(2),
);
