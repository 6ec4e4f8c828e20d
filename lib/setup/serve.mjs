/** The last step: runs the service, or a browser host, as a child process, which ends when this process ends. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { SERVICE_PROGRAM } from "./build-service.mjs";
import { EXIT_CODES } from "./exit-codes.mjs";

// Under npm, each Ctrl-C arrives twice, from the terminal and from npm. Signals within this time count as one signal.
const sameSignalMs = 500;
const ownsGroup = process.platform !== "win32";

// The waits before restarts. A service that ran for `steadyMs` has recovered, so the next wait is the first again.
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;
const steadyMs = 300_000;

/** Defaults for environment variables of the service's process. The environment of this process overrides them. */
export const PROCESS_DEFAULTS = {
  // Keeps compiled code between starts, which saves about a sixth of the start-up time.
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/node-compile", import.meta.url)),
  // Limits glibc to two heaps. With its default of many heaps, the process uses 25 MB more after 500 sessions.
  MALLOC_ARENA_MAX: "2",
};

/**
 * What to run.
 * @typedef {object} Program
 * @property {string} program path of the script
 * @property {string} name for messages
 */

/**
 * Runs the service until it is stopped. The first SIGINT, SIGTERM or SIGHUP is forwarded to the service. A later signal
 * kills the service and its process group. If this process is killed, the service's IPC channel disconnects, and the
 * service ends.
 *
 * In production, a service that was ready and then ended unexpectedly is started again, after a wait that doubles with
 * each restart up to a minute. It is not started again after a signal, after an orderly end, or if a setting is wrong.
 * @param {string} node executable of Node 24
 * @param {"production" | "development"} nodeEnv
 * @param {Program} [what] by default the service
 * @returns {Promise<number>} the service's exit code, or 128 + the number of the signal that ended it
 */
export async function serve(
  node,
  nodeEnv,
  what = { program: nodeEnv === "production" ? SERVICE_PROGRAM : "lib/server/main.ts", name: "service" },
) {
  const stop = listenForStop();
  let wasReady = false;
  let waitMs = firstWaitMs;
  for (;;) {
    const startedAt = performance.now();
    const end = await runOnce(node, nodeEnv, stop, what);
    wasReady ||= end.wasReady;
    const isExpected = [EXIT_CODES.stopped, EXIT_CODES.wrongSetting].includes(end.code);
    if (nodeEnv !== "production" || stop.signal !== undefined || isExpected || !wasReady) return end.code;
    if (performance.now() - startedAt > steadyMs) waitMs = firstWaitMs;
    console.error(
      `The ${what.name} ended unexpectedly (${end.reason}). It is started again in ${waitMs / 1_000} s.`,
    );
    await stop.within(waitMs);
    if (stop.signal !== undefined) return 128 + constants.signals[stop.signal];
    waitMs = Math.min(2 * waitMs, longestWaitMs);
  }
}

/**
 * @typedef {object} Stop
 * @property {NodeJS.Signals | undefined} signal the first signal that this process has received
 * @property {import("node:child_process").ChildProcess | undefined} child the service that gets the signals
 * @property {(ms: number) => Promise<void>} within waits, at most until a signal arrives
 */

/** @returns {Stop} */
function listenForStop() {
  let firstAt = 0;
  let wake = () => {};
  /** @type {Stop} */
  const stop = {
    signal: undefined,
    child: undefined,
    within: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
  };
  /** @param {NodeJS.Signals} signal */
  const pass = (signal) => {
    if (stop.signal === undefined) {
      stop.signal = signal;
      firstAt = Date.now();
      stop.child?.kill(signal);
      wake();
    } else if (Date.now() - firstAt > sameSignalMs && stop.child) killGroup(stop.child);
  };
  process.on("SIGINT", pass).on("SIGTERM", pass).on("SIGHUP", pass);
  return stop;
}

/**
 * Runs the service once.
 * @param {string} node
 * @param {"production" | "development"} nodeEnv
 * @param {Stop} stop
 * @param {Program} what
 * @returns {Promise<{ code: number, reason: string, wasReady: boolean }>}
 */
function runOnce(node, nodeEnv, stop, { program, name }) {
  return new Promise((resolve) => {
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
    stop.child = child;
    let wasReady = false;
    child.on("message", (message) => {
      wasReady ||= message === "ready";
    });
    child.on("error", (error) => {
      console.error(`Starting the ${name} failed: ${error.message}`);
      resolve({ code: EXIT_CODES.failed, reason: error.message, wasReady });
    });
    child.on("exit", (code, signal) => {
      stop.child = undefined;
      if (signal === null)
        resolve({ code: code ?? EXIT_CODES.failed, reason: `exit code ${code}`, wasReady });
      else resolve({ code: 128 + constants.signals[signal], reason: `killed by ${signal}`, wasReady });
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
