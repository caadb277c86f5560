import { defineConfig } from 'vitest/config';

// Real processes are the rule here, so a test may take seconds, and on a machine that is loaded to 20 minutes. What it waits
// for has a bound of its own (test/support/patience.ts) that names what did not come; nothing waits on the clock.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // Most of a small file's time was loading the same modules again. A test puts back whatever it changes of its process.
    isolate: false,
    maxWorkers: 3,
  },
});
