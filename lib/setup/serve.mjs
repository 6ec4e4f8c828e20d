/** Step 5: the service itself, as a child that never outlives this process. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { resolve as resolvePath } from "node:path";

// Ctrl-C under npm arrives twice, from the terminal and from npm: signals this close together are one.
const sameSignalMs = 500;
const ownsGroup = process.platform !== "win32";

/**
 * Runs the service until it ends. SIGINT, SIGTERM and SIGHUP are passed on once; the next one kills the service and
 * everything in its process group. Should this process be killed, the service sees its IPC channel disconnect.
 * @param {string} node executable of Node 24
 * @param {"production" | "development"} nodeEnv
 * @returns {Promise<number>} the service's exit code, 128 + the signal's number when a signal ended it
 */
export function serve(node, nodeEnv) {
  return new Promise((resolve) => {
    const child = spawn(node, ["--disable-warning=ExperimentalWarning", "lib/server/main.ts"], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      env: {
        // Compiled code is kept from start to start: about a sixth of the time until the service is ready.
        NODE_COMPILE_CACHE: resolvePath("node_modules/.cache/node-compile"),
        ...process.env,
        NODE_ENV: nodeEnv,
        NEXT_TELEMETRY_DISABLED: "1",
      },
      // In the terminal's own group Ctrl-C would reach the service twice, from the terminal and from here.
      detached: ownsGroup,
    });
    /** @type {number | undefined} */
    let firstAt;
    /** @param {NodeJS.Signals} signal */
    const pass = (signal) => {
      if (firstAt === undefined) child.kill(signal);
      else if (Date.now() - firstAt > sameSignalMs) killGroup(child);
      firstAt ??= Date.now();
    };
    process.on("SIGINT", pass).on("SIGTERM", pass).on("SIGHUP", pass);
    child.on("error", (error) => {
      console.error(`The service could not be started: ${error.message}`);
      resolve(1);
    });
    child.on("exit", (code, signal) => {
      resolve(code ?? 128 + (signal === null ? 1 : constants.signals[signal]));
    });
  });
}

/** @param {import("node:child_process").ChildProcess} child */
function killGroup(child) {
  if (child.pid === undefined) return;
  try {
    process.kill(ownsGroup ? -child.pid : child.pid, "SIGKILL");
  } catch {
    // It has ended in the meantime.
  }
}
