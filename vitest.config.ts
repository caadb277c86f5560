import { defineConfig } from 'vitest/config';

// Real processes are the rule here, so a test may take seconds; nothing in them waits on the clock.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
