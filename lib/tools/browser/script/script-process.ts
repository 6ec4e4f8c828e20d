import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { lowerAutogroupOf } from "#lib/isolation/low-priority.ts";
import { errorText } from "#lib/text/error-text.ts";
import { createLoopShare } from "./loop-share.ts";
import { BrokenPipe, INVALID_MESSAGE, parseMessage, readMessageLines } from "./read-messages.ts";
import { type ChildCommand, childEnvironment, sendInputs } from "./script-confinement.ts";
import type { FromChild, ToChild } from "./script-protocol.ts";

/** Why a child ended: a sentence for the model. */
type ChildEnd = { reason: string };

/**
 * Receives one message and its size in bytes. The next message is read when the returned promise resolves; until then,
 * it stays in the pipe.
 */
type OnMessage = (message: FromChild, bytes: number) => void | Promise<void>;

/** A child process that waits for one script and then runs it. */
export type ScriptProcess = {
  pid: number | undefined;
  /** Resolves when Playwright is loaded and the child waits for its script; rejects if the child ends first. */
  ready: Promise<void>;
  /** Resolves with the reason when the process has ended. */
  ended: Promise<ChildEnd>;
  /** Sets the function that receives all further messages. */
  listen: (onMessage: OnMessage) => void;
  send: (message: ToChild) => void;
  /** Resolves when the child has read most of what was sent to it, or has ended. */
  drained: () => Promise<void>;
  /** Kills the process and its process group. */
  kill: () => void;
};

const STDERR_CHARS_MAX = 8_000;
/** Bytes that a child has not read yet. Above this, its further messages and the answers to its calls wait. */
const UNREAD_BYTES_PAUSE = 4 * 2 ** 20;
/** Above this, the child is killed: the service cannot hold back what the browser sends. */
const UNREAD_BYTES_MAX = 64 * 2 ** 20;
/** How long a child that has closed its output may take to end. */
const END_MS_MAX = 2_000;

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
  lowerAutogroupOf(child.pid);
  let onMessage: OnMessage = () => {};
  let broken: string | undefined;
  let isKilled = false;
  const kill = () => {
    isKilled = true;
    // The streams are no longer read, and `close` would wait for their end.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
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
    kill();
  };

  const stderr = collectErrors(child);
  const ended = new Promise<ChildEnd>((resolve) => {
    child.once("error", (error) =>
      resolve({ reason: `The script's process did not start: ${errorText(error)}` }),
    );
    child.once("close", (code, signal) => resolve({ reason: broken ?? describeEnd(stderr(), code, signal) }));
  });
  const ready = new Promise<void>((resolve, reject) => {
    onMessage = (message) => {
      if (message.type === "ready") resolve();
    };
    ended.then((end) => reject(new Error(end.reason)));
  });
  // Prevents an unhandled rejection: nothing awaits `ready` if a spare process ends before it is used.
  ready.catch(() => {});

  const drained = async () => {
    if (child.stdin.writableLength <= UNREAD_BYTES_PAUSE || child.stdin.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        child.stdin.off("drain", done).off("close", done);
        resolve();
      };
      child.stdin.once("drain", done).once("close", done);
    });
  };
  child.stdin.on("error", () => {});
  deliverMessages(child, async (message, bytes) => {
    await onMessage(message, bytes);
    await drained();
  }).then(
    () => {
      // The process is ending. If it only closed its output, it can no longer report anything and is killed.
      const timer = setTimeout(kill, END_MS_MAX);
      ended.then(() => clearTimeout(timer));
    },
    (error) => {
      // Reading also fails when `kill` closes the stream.
      if (!isKilled) breakOff(error instanceof BrokenPipe ? error.message : INVALID_MESSAGE);
    },
  );

  return {
    pid: child.pid,
    ready,
    ended,
    listen: (listener) => {
      onMessage = listener;
    },
    send: (message) => {
      if (!child.stdin.writable) return;
      child.stdin.write(Buffer.from(`${JSON.stringify(message)}\n`));
      if (child.stdin.writableLength > UNREAD_BYTES_MAX)
        breakOff("The script stopped reading messages from the page.");
    },
    drained,
    kill,
  };
}

/**
 * Delivers the messages of a child, one after the other, until it closes its output. All that a child sends is parsed
 * and handled here. @throws BrokenPipe, or the error of the receiver; the child must be killed then.
 */
async function deliverMessages(
  { stdout }: ChildProcessWithoutNullStreams,
  onMessage: (message: FromChild, bytes: number) => Promise<void>,
): Promise<void> {
  const share = createLoopShare();
  for await (const line of readMessageLines(stdout)) {
    const startedAt = performance.now();
    const handled = onMessage(parseMessage(line), line.byteLength);
    share.charge(performance.now() - startedAt);
    await handled;
    await share.rest();
  }
}

/** Collects the first part of what a child writes to its error output, and stops reading after it. */
function collectErrors({ stderr }: ChildProcessWithoutNullStreams): () => string {
  let text = "";
  stderr.on("error", () => {});
  stderr.on("data", (chunk: Buffer) => {
    text = `${text}${chunk}`.slice(0, STDERR_CHARS_MAX);
    if (text.length === STDERR_CHARS_MAX) stderr.destroy();
  });
  return () => text;
}

function describeEnd(stderr: string, code: number | null, signal: NodeJS.Signals | null): string {
  if (/heap out of memory|Failed to allocate memory|bad_alloc/i.test(stderr)) {
    return "The script used more memory than it may.";
  }
  if (signal === "SIGKILL" || code === 137) return "The script's process was ended.";
  const last = stderr.trim().split("\n").at(-1);
  return `The script's process ended by itself (${signal ?? `exit code ${code}`})${last ? `: ${last}` : "."}`;
}
