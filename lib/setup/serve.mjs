/** The last step: runs the service as a child process, which ends when this process ends. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { SERVICE_PROGRAM } from "./build-service.mjs";

// Under npm, each Ctrl-C arrives twice, from the terminal and from npm. Signals within this time count as one signal.
const sameSignalMs = 500;
const ownsGroup = process.platform !== "win32";

/** Defaults for environment variables of the service's process. The environment of this process overrides them. */
export const PROCESS_DEFAULTS = {
  // Keeps compiled code between starts, which saves about a sixth of the start-up time.
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/node-compile", import.meta.url)),
  // Limits glibc to two heaps. With its default of many heaps, the process uses 25 MB more after 500 sessions.
  MALLOC_ARENA_MAX: "2",
};

/**
 * Runs the service until it ends. The first SIGINT, SIGTERM or SIGHUP is forwarded to the service. A later signal kills
 * the service and its process group. If this process is killed, the service's IPC channel disconnects, and the service
 * ends.
 * @param {string} node executable of Node 24
 * @param {"production" | "development"} nodeEnv
 * @returns {Promise<number>} the service's exit code, or 128 + the number of the signal that ended it
 */
export function serve(node, nodeEnv) {
  return new Promise((resolve) => {
    const program = nodeEnv === "production" ? SERVICE_PROGRAM : "lib/server/main.ts";
    const child = spawn(node, ["--disable-warning=ExperimentalWarning", program], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      env: {
        ...PROCESS_DEFAULTS,
        ...process.env,
        NODE_ENV: nodeEnv,
        NEXT_TELEMETRY_DISABLED: "1",
      },
      // In the terminal's process group, the service would receive Ctrl-C twice: from the terminal and from this
      // process.
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
      console.error(`Starting the service failed: ${error.message}`);
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
    // The group has already ended.
  }
}
