import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { type ChildCommand, childEnvironment, sendInputs } from "./script-confinement.ts";
import type { FromChild, ToChild } from "./script-protocol.ts";

/** Why a child ended: a sentence for the model. */
type ChildEnd = { reason: string };

/** A child process that waits for one script and then runs it. */
export type ScriptProcess = {
  pid: number | undefined;
  /** Resolves when Playwright is loaded and the child waits for its script; rejects if the child ends first. */
  ready: Promise<void>;
  /** Resolves with the reason when the process has ended. */
  ended: Promise<ChildEnd>;
  /** Sets the function that receives all further messages. */
  listen: (onMessage: (message: FromChild) => void) => void;
  send: (message: ToChild) => void;
  /** Kills the process and its process group. */
  kill: () => void;
};

/**
 * Longest line that a child may write. Large enough for a picture in `setInputFiles`, or for the body of a fulfilled
 * request.
 */
const LINE_BYTES_MAX = 32 * 2 ** 20;
const STDERR_CHARS_MAX = 8_000;
/** Maximum size of the messages that a child has not read yet. A child that exceeds it is killed. */
const BACKLOG_BYTES_MAX = 128 * 2 ** 20;

/** Starts a confined child that loads Playwright and waits for its script. */
export function startScriptProcess({ command, args, inputs }: ChildCommand): ScriptProcess {
  const child = spawn(command, args, {
    cwd: "/",
    env: childEnvironment(),
    stdio: ["pipe", "pipe", "pipe", ...inputs.map(() => "pipe" as const)],
    // Starts the child in its own process group, so that `kill` can end the whole group.
    detached: process.platform !== "win32",
  }) as ChildProcessWithoutNullStreams;
  sendInputs(child, inputs);
  let onMessage: (message: FromChild) => void = () => {};
  let stderr = "";
  let broken: string | undefined;
  const kill = () => {
    child.stdin.destroy();
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      // Kills the whole group, because killing bubblewrap alone during its start would leave a child behind.
      process.kill(-child.pid, "SIGKILL");
    } catch {
      child.kill("SIGKILL");
    }
  };
  const breakOff = (reason: string) => {
    broken ??= reason;
    child.stdout.removeAllListeners("data");
    kill();
  };

  const ended = new Promise<ChildEnd>((resolve) => {
    child.once("error", (error) =>
      resolve({ reason: `The script's process did not start: ${error.message}` }),
    );
    child.once("close", (code, signal) => resolve({ reason: broken ?? describeEnd(stderr, code, signal) }));
  });
  const ready = new Promise<void>((resolve, reject) => {
    onMessage = (message) => {
      if (message.type === "ready") resolve();
    };
    ended.then((end) => reject(new Error(end.reason)));
  });
  // Prevents an unhandled rejection: nothing awaits `ready` if a spare process ends before it is used.
  ready.catch(() => {});

  child.stdin.on("error", () => {});
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    if (stderr.length < STDERR_CHARS_MAX) stderr += text;
  });
  readLines(child.stdout, {
    onLine(line) {
      const message = parseMessage(line);
      if (!message) breakOff("The script wrote to its process's output; use console.log.");
      else {
        try {
          onMessage(message);
        } catch {
          // A malformed message of a hostile script must end the script, not the service.
          breakOff("The script's process sent an invalid message.");
        }
      }
    },
    onTooLong: () => breakOff("The script's process sent a message that is too large."),
  });

  return {
    pid: child.pid,
    ready,
    ended,
    listen: (listener) => {
      onMessage = listener;
    },
    send: (message) => {
      if (!child.stdin.writable) return;
      child.stdin.write(`${JSON.stringify(message)}\n`);
      if (child.stdin.writableLength > BACKLOG_BYTES_MAX)
        breakOff("The script stopped reading messages from the page.");
    },
    kill,
  };
}

/** Splits a stream into lines. Stops when the "data" listeners of the stream are removed. */
function readLines(
  stream: Readable,
  { onLine, onTooLong }: { onLine: (line: string) => void; onTooLong: () => void },
): void {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  stream.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      pending.push(chunk.subarray(start, end));
      const line = Buffer.concat(pending).toString();
      pending = [];
      pendingBytes = 0;
      start = end + 1;
      onLine(line);
      if (stream.listenerCount("data") === 0) return;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
    pendingBytes += chunk.length - start;
    if (pendingBytes > LINE_BYTES_MAX) onTooLong();
  });
}

function describeEnd(stderr: string, code: number | null, signal: NodeJS.Signals | null): string {
  if (/heap out of memory|Failed to allocate memory|bad_alloc/i.test(stderr)) {
    return "The script used more memory than it may.";
  }
  if (signal === "SIGKILL" || code === 137) return "The script's process was ended.";
  const last = stderr.trim().split("\n").at(-1);
  return `The script's process ended by itself (${signal ?? `exit code ${code}`})${last ? `: ${last}` : "."}`;
}

function parseMessage(line: string): FromChild | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && "type" in value ? (value as FromChild) : undefined;
  } catch {
    return undefined;
  }
}
