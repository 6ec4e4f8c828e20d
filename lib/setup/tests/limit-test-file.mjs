/**
 * Preloaded for each unit test file. It ends a file that still runs after ten minutes, or whose open handles keep its
 * process alive, and counts it as failed. It also resolves modules as the service does, which is faster.
 */
import { shortenResolution } from "../../server/shorten-resolution.ts";

const LIMIT_MS = 600_000;

// Only test files have this variable, not the runner itself.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  shortenResolution();
  setTimeout(() => {
    console.error(`The test file did not end within ${LIMIT_MS / 60_000} minutes`);
    process.exit(1);
  }, LIMIT_MS).unref();
}
