/**
 * A module that Node preloads into the processes of unit test files. It ends a process in which a file takes longer than
 * ten minutes, for example because of open handles; the file then counts as failed. It also resolves modules as the service
 * does, follows tests in a way that takes less processor time, and prints errors that no test handles.
 */
import { isMainThread } from "node:worker_threads";
import { shortenResolution } from "../shorten-resolution.ts";

const LIMIT_MS = 600_000;

/** @type {NodeJS.Timeout | undefined} */
let timer;

// Node's runner sets this variable only in the processes of test files, so the runner itself is not affected.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  shortenResolution();
  if (isMainThread) await import("./follow-tests.mjs");
  limitNextFile();
  // If no test runs any more, the runner reports only the message of such an error.
  process.on("unhandledRejection", printStray).on("uncaughtExceptionMonitor", printStray);
}

/** @param {unknown} error */
function printStray(error) {
  console.error("An error that no test handled:", error);
}

/** Starts the time of a test file, in a process that runs several. */
export function limitNextFile() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    console.error(`The test file did not end within ${LIMIT_MS / 60_000} minutes`);
    process.exit(1);
  }, LIMIT_MS).unref();
}
