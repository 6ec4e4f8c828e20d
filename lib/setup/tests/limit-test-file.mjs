/**
 * Preloaded for each unit test file. If the process of the file is still alive after ten minutes, for example because of
 * open handles, it is ended and the file counts as failed. Modules are resolved as in the service, which is faster.
 */
import { shortenResolution } from "../../server/shorten-resolution.ts";

const LIMIT_MS = 600_000;

// Node's runner sets this variable only in the processes of test files, so the runner itself is not affected.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  shortenResolution();
  setTimeout(() => {
    console.error(`The test file did not end within ${LIMIT_MS / 60_000} minutes`);
    process.exit(1);
  }, LIMIT_MS).unref();
}
