import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { type Readable, Writable } from "node:stream";
import type { CommandResult } from "../sandbox-service.ts";
import type { CommandWatch } from "./command-watch.ts";
import { createOutputWindow } from "./output-window.ts";

/** A command that is ready to start: the program, its arguments, its folder, and its whole environment. */
export type CommandPlan = {
  file: string;
  args: string[];
  cwd?: string;
  env: Record<string, string>;
  /** The inputs that the launcher reads from its descriptors 3, 4 and so on. */
  inputs?: readonly Uint8Array[];
  /** A file that is opened for writing. The launcher gets it as the descriptor after the inputs. */
  joinPath?: string | undefined;
};

type RunLimits = {
  /** Deadline in milliseconds. */
  timeoutMs: number;
  signal: AbortSignal;
  outputBytesMax: number;
  /** A command with more output than this is killed. */
  floodBytesMax: number;
  watches?: CommandWatch[];
};

/** Pipes are closed this long after the command has ended, because a detached child may keep them open. */
const PIPE_GRACE_MS = 500;

/**
 * Runs a command in its own process group. Kills the whole group with SIGKILL when the command ends, at the deadline,
 * when the signal fires, when a watch returns a sentence, or when there is too much output. Returns only standard
 * output, to which the plan redirects the command's standard error. The launcher uses standard error to report why it
 * failed.
 *
 * @throws if the signal has already fired, if the program cannot be started, or if the launcher failed before the
 * command began.
 */
export async function runCommand(plan: CommandPlan, limits: RunLimits): Promise<CommandResult> {
  const startedAt = performance.now();
  const output = createOutputWindow(limits.outputBytesMax);
  const launcherErrors = createOutputWindow(4_096);
  /** Why the service ended the command, and whether the deadline was the reason. */
  let ending: { note: string; isDeadline: boolean } | undefined;

  limits.signal.throwIfAborted();
  const child = start(plan);
  // `start` creates both pipes, but the type of `stdio` with extra entries does not say so.
  const [stdout, stderr] = [child.stdout as Readable, child.stderr as Readable];
  for (const [index, bytes] of (plan.inputs ?? []).entries()) sendInput(child.stdio[3 + index], bytes);
  const killGroup = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // The group has already ended.
    }
  };
  const end = (note: string, isDeadline = false) => {
    if (ending || child.exitCode !== null || child.signalCode !== null) return;
    ending = { note, isDeadline };
    killGroup();
  };

  stdout.on("data", (chunk: Buffer) => {
    output.add(chunk);
    if (output.totalBytes() > limits.floodBytesMax)
      end(`ended: more than ${limits.floodBytesMax} bytes of output`);
  });
  stderr.on("data", (chunk: Buffer) => launcherErrors.add(chunk));
  const deadline = setTimeout(
    () => end(`ended at its deadline of ${limits.timeoutMs} ms`, true),
    limits.timeoutMs,
  );
  const onAbort = () => end("ended: the turn was stopped");
  limits.signal.addEventListener("abort", onAbort, { once: true });
  const { pid } = child;
  const stops = (limits.watches ?? []).map((watch) =>
    pid === undefined ? () => {} : startWatch(watch, pid, end),
  );

  try {
    const { exitCode, signal } = await new Promise<{ exitCode: number | null; signal: string | null }>(
      (resolve, reject) => {
        child.on("error", reject);
        child.on("exit", () => {
          killGroup();
          setTimeout(() => {
            stdout.destroy();
            stderr.destroy();
          }, PIPE_GRACE_MS).unref();
        });
        child.on("close", (code, signalName) => resolve({ exitCode: code, signal: signalName }));
      },
    );
    // A command may have ended by itself just before it was killed. Then the service did not end it.
    const cause = signal === "SIGKILL" ? ending : undefined;
    const launcherError = launcherErrors.text().text.trim();
    if (exitCode !== 0 && launcherError !== "" && output.totalBytes() === 0 && !cause) {
      throw new Error(`the command could not be started: ${launcherError}`);
    }
    const { text, truncated } = output.text();
    const durationMs = Math.round(performance.now() - startedAt);
    const timedOut = cause?.isDeadline === true;
    const result = { exitCode, signal, output: text, truncated, timedOut, durationMs };
    return cause ? addNote(result, cause.note) : result;
  } finally {
    clearTimeout(deadline);
    for (const stop of stops) stop();
    limits.signal.removeEventListener("abort", onAbort);
  }
}

function start({ file, args, cwd, env, inputs = [], joinPath }: CommandPlan): ChildProcess {
  // The files of control groups are in memory, so opening one synchronously does not block.
  const joining = joinPath === undefined ? [] : [openSync(joinPath, "w")];
  try {
    return spawn(file, args, {
      ...(cwd === undefined ? {} : { cwd }),
      // The cast is needed because Next declares NODE_ENV as always present. A command does not get NODE_ENV.
      env: env as NodeJS.ProcessEnv,
      detached: true,
      stdio: ["ignore", "pipe", "pipe", ...inputs.map(() => "pipe" as const), ...joining],
    });
  } finally {
    for (const descriptor of joining) closeSync(descriptor);
  }
}

/**
 * Writes an input. Ignores write errors: a launcher that fails before it has read all inputs reports its failure
 * itself.
 */
function sendInput(stream: unknown, bytes: Uint8Array): void {
  if (!(stream instanceof Writable)) return;
  stream.on("error", () => {});
  stream.end(bytes);
}

/** Appends a note of the service, in brackets, to a command's output. */
export function addNote(result: CommandResult, note: string): CommandResult {
  const gap = result.output === "" || result.output.endsWith("\n") ? "" : "\n";
  return { ...result, output: `${result.output}${gap}[${note}]` };
}

/**
 * Repeats the check of a watch. Pauses at least three times as long as the last check took, so that checking stays
 * cheap.
 */
function startWatch(watch: CommandWatch, pid: number, end: (note: string) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const schedule = (pauseMs: number) => {
    if (!isStopped) timer = setTimeout(check, pauseMs);
  };
  const check = async () => {
    const at = performance.now();
    // A failed check is ignored, because the command may have removed a file that was being measured.
    const reason = await watch.check(pid).catch(() => undefined);
    if (isStopped) return;
    if (reason !== undefined) end(reason);
    schedule(Math.max(watch.everyMs, (performance.now() - at) * 3));
  };
  schedule(watch.everyMs);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
