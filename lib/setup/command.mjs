/** Runs the programs of the setup steps, and ends them when this process receives a signal. */
import { spawn } from "node:child_process";
import { constants } from "node:os";

const outputCharactersMax = 2_000_000;
const graceMs = 1_500;
/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();
const ownsGroup = process.platform !== "win32";

/** @typedef {Record<string, string | undefined>} Environment */
/**
 * @typedef {object} CommandOptions
 * @property {Environment} [env] variables in addition to this process's own
 * @property {string} [cwd]
 * @property {number} [timeoutMs] time limit, after which the program and all its child processes are killed
 * @property {(line: string) => void} [onLine] called with each line of output
 * @property {boolean} [endsWithParent] also kill the program when this process is killed, so that no signal handler runs
 * @property {boolean} [inherit] print the output instead of collecting it
 */
/** @typedef {{ ok: boolean, exitCode: number, output: string, timedOut: boolean }} CommandResult */

/**
 * Runs a program without standard input and waits until it ends. The exit code is 127 if the program cannot be started,
 * and 1 if a signal ends it.
 * @param {string} file
 * @param {string[]} args
 * @param {CommandOptions} [options]
 * @returns {Promise<CommandResult>} the result; `output` contains standard output and standard error, interleaved
 */
export function runCommand(file, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: options.inherit ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
      // The program gets its own process group, so that its child processes can be ended with it.
      detached: ownsGroup,
      windowsHide: true,
    });
    running.add(child);
    const release = options.endsWithParent ? guard(child) : () => {};
    let output = "";
    let timedOut = false;
    /** @param {string} text */
    const collect = (text) => {
      output = (output + text).slice(-outputCharactersMax);
      for (const line of text.split(/[\r\n]+/)) if (line.trim() !== "") options.onLine?.(line);
    };
    child.stdout?.setEncoding("utf8").on("data", collect);
    child.stderr?.setEncoding("utf8").on("data", collect);
    const timer =
      options.timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            kill(child, "SIGKILL");
          }, options.timeoutMs);
    /** @param {number} exitCode */
    const finish = (exitCode) => {
      clearTimeout(timer);
      running.delete(child);
      release();
      resolve({ ok: exitCode === 0 && !timedOut, exitCode, output, timedOut });
    };
    child.on("error", (error) => {
      output += error.message;
      finish(127);
    });
    child.on("close", (code) => finish(code ?? 1));
  });
}

/**
 * Starts a second process that kills the program's group when this process has ended: the pipe to its standard input
 * then closes, even after a SIGKILL.
 * @param {import("node:child_process").ChildProcess} child
 * @returns {() => void} a function that ends the guard
 */
function guard(child) {
  if (!ownsGroup || child.pid === undefined) return () => {};
  const script = `process.stdin.on("end", () => { try { process.kill(-${child.pid}, "SIGKILL"); } catch {} }).resume();`;
  const watcher = spawn(process.execPath, ["-e", script], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Without a guard, an interrupted step is still repeated by the next run.
  watcher.on("error", () => {});
  watcher.stdin.on("error", () => {});
  return () => void watcher.kill("SIGKILL");
}

/**
 * Handles signals to this process: ends the programs of the current step, then this process.
 * @returns {() => void} a function that removes the handlers, for the time when the service handles signals itself
 */
export function endCommandsOnSignal() {
  /** @param {"SIGINT" | "SIGTERM" | "SIGHUP"} signal */
  const end = (signal) => {
    const exit = () => process.exit(128 + constants.signals[signal]);
    if (running.size === 0) exit();
    for (const child of running) {
      kill(child, "SIGTERM");
      child.on("close", () => running.size === 0 && exit());
    }
    // Kills programs that do not end in time; npm may be one of them. A killed step has no stamp, so the next run
    // repeats it.
    setTimeout(() => {
      for (const child of running) kill(child, "SIGKILL");
      exit();
    }, graceMs).unref();
  };
  const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
  for (const signal of signals) process.on(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
function kill(child, signal) {
  if (child.pid === undefined) return;
  try {
    process.kill(ownsGroup ? -child.pid : child.pid, signal);
  } catch {
    child.kill(signal);
  }
}
