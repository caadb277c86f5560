#!/usr/bin/env node
/**
 * The command `custody`. It owns nothing: whatever it changes, the daemon changes. `status` is asked for by prompts and
 * status bars many times a minute, so it is answered before the command tree and an HTTP client are loaded; everything
 * else, and every `status` that is not plain, takes the full way.
 */
import { quickStatus } from './quickStatus.ts';

const words = process.argv.slice(2);

/** Observing is a program of its own: nothing that could launch or end anything is even loaded for it (INT-03). */
if (words[0] === 'observe') void import('./observe.ts').then(({ main }) => main(words.slice(1)));
else
  void quickStatus(words).then(async (isAnswered) => {
    if (!isAnswered) await (await import('./full.ts')).main(words);
  });
