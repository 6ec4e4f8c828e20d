/**
 * Loaded before each file of unit tests: a file that still runs after ten minutes, or keeps its process alive by
 * something it left open, ends and counts as failed. Modules are resolved as in the service, which takes less time.
 */
import { shortenResolution } from "../../server/shorten-resolution.ts";

const LIMIT_MS = 600_000;

// The runner itself has no such context.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  shortenResolution();
  setTimeout(() => {
    console.error(`a test file did not end within ${LIMIT_MS / 60_000} minutes`);
    process.exit(1);
  }, LIMIT_MS).unref();
}
