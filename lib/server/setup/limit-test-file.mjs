/**
 * Loaded before each file of unit tests: one that still runs after ten minutes, or has left something open that keeps
 * its process alive, ends, and counts as failed.
 */
const LIMIT_MS = 600_000;

// The runner itself has no such context.
if (process.env.NODE_TEST_CONTEXT !== undefined)
  setTimeout(() => {
    console.error(`a test file did not end within ${LIMIT_MS / 60_000} minutes`);
    process.exit(1);
  }, LIMIT_MS).unref();
