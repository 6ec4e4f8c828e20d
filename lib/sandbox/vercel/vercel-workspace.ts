import { randomUUID } from "node:crypto";
import { createOutputWindow } from "../local/output-window.ts";
import { argvOf } from "../local/run-program.ts";
import { parseWorkspacePath } from "../parse-workspace-path.ts";
import type { CommandResult, Workspace } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import { type BoxConfinement, confineInBox } from "./box-confinement.ts";
import { createBoxFiles } from "./box-files.ts";
import { hasTestsInBox, runTestsInBox } from "./box-tests.ts";
import { extendTo } from "./create-vercel-boxes.ts";
import { probeBubblewrap } from "./image-record.ts";
import { runBoxScript } from "./run-box-script.ts";
import type { BoxCommand, BoxLimits, OpenBox } from "./vercel-box.ts";

type VercelWorkspaceOptions = {
  box: OpenBox;
  limits: BoxLimits;
  /** Fires when the workspace is removed or the service shuts down. The workspace's commands are then killed. */
  closing: AbortSignal;
  /** A sentence about missing files, for the model. */
  note?: string | undefined;
};

/** Shell script that makes folder `$2` for the files of a program, if the runtime `$1` is installed. */
const MAKE_FOLDER = `command -v -- "$1" > /dev/null && mkdir -- "$2" && echo made`;
/**
 * Shell script that runs the program `$3` with the arguments after it, in folder `$1` with the home `$2`. Of the box's
 * environment, only PATH is passed on.
 */
const RUN_PROGRAM = `cd -- "$1" && mkdir -p -- "$2" || exit 126
home=$2; shift 2
env -i "PATH=$PATH" "HOME=$home" LANG=C.UTF-8 TERM=dumb "$@"; code=$?
rm -rf -- "$home"; exit "$code"`;

/**
 * Opens the workspace of one session in a Vercel Sandbox: a folder in the home of the box's user. Everything that opens a
 * path of the workspace runs in the confinement of the agent's commands, so a link that a command creates leads nowhere
 * else.
 */
export async function openVercelWorkspace(options: VercelWorkspaceOptions): Promise<Workspace> {
  const { box, limits, closing, note } = options;
  const confinement = await confineInBox(box, await probeBubblewrap(box));
  const { workspace: root, programs, tmp, wrap } = confinement;
  const pathOf = (names: string[]) => [root, ...names].join("/");
  return {
    ...(note !== undefined && { note }),
    ...createBoxFiles({ box, confinement, limits }),
    async run(command, { timeoutMs, signal, cwd }) {
      const folder = parseWorkspacePath(cwd ?? "");
      return runInBox(box, limits, {
        command: wrap(["bash", "-c", `cd -- "$1" && eval "$2"`, "bash", pathOf(folder), command]),
        timeoutMs,
        signal: AbortSignal.any([signal, closing]),
      });
    },
    async runProgram(program, { timeoutMs, signal }) {
      const names = program.files.map(({ path }) => parseWorkspacePath(path));
      const { runtime } = program;
      const id = randomUUID();
      const folder = `${programs}/${id}`;
      const made = await runBoxScript(box, `${MAKE_FOLDER} || true`, [runtime, folder]);
      if (made.trim() !== "made") throw new WorkspaceError(`${runtime} is not installed in the sandbox`);
      try {
        await box.writeFiles(
          program.files.map(({ bytes }, index) => ({
            path: [folder, ...(names[index] ?? [])].join("/"),
            content: bytes,
          })),
        );
        const home = `${tmp}/home-${id}`;
        return await runInBox(box, limits, {
          command: wrap(["bash", "-c", RUN_PROGRAM, "bash", root, home, ...argvOf(runtime, folder, program)]),
          timeoutMs,
          signal: AbortSignal.any([signal, closing]),
        });
      } finally {
        // This fails if the box was removed. In that case, its files are gone, too.
        await runBoxScript(box, `rm -rf -- "$1"`, [folder]).catch(() => {});
      }
    },
    async runTests(program, { signal, ...given }) {
      await extendTo(box, given.timeoutMs + TIME_TO_SPARE_MS);
      const either = AbortSignal.any([signal, closing]);
      return runTestsInBox(box, confinement, program, { ...given, signal: either });
    },
    hasTests: (id, proxyPort) => hasTestsInBox(box, id, proxyPort),
  };
}

/** A command to run, composed by the confinement. */
type BoxRun = { command: ReturnType<BoxConfinement["wrap"]>; timeoutMs: number; signal: AbortSignal };

/** Runs a command of the agent. Kills it at its deadline, when the signal fires, or when there is too much output. */
async function runInBox(box: OpenBox, limits: BoxLimits, run: BoxRun): Promise<CommandResult> {
  const { command, timeoutMs, signal } = run;
  signal.throwIfAborted();
  const startedAt = performance.now();
  const output = createOutputWindow(limits.outputBytesMax);
  const notes: string[] = [];
  await extendTo(box, timeoutMs + TIME_TO_SPARE_MS);
  const started = await box.runCommand({
    ...command,
    detached: true,
    // Ends the command if this process ends before it does.
    timeoutMs: timeoutMs + TIME_TO_SPARE_MS / 2,
  });
  const end = (note: string) => {
    if (notes.length > 0) return;
    notes.push(note);
    started.kill("SIGKILL").catch(() => {});
  };
  const onAbort = () => end("ended: the turn was stopped");
  signal.addEventListener("abort", onAbort, { once: true });
  let timedOut = false;
  const deadline = setTimeout(() => {
    timedOut = true;
    end(`ended at its deadline of ${timeoutMs} ms`);
  }, timeoutMs);
  if (signal.aborted) onAbort();
  try {
    for await (const { data } of readLogs(started, signal)) {
      output.add(Buffer.from(data));
      if (output.totalBytes() > limits.floodBytesMax)
        end(`ended: more than ${limits.floodBytesMax} bytes of output`);
    }
    // The exit code of a killed command says nothing, and its box may be removed already.
    const exitCode = notes.length > 0 ? null : (await started.wait()).exitCode;
    const { text, truncated } = output.text();
    const noted = notes.map((note) => `[${note}]`).join("\n");
    return {
      exitCode,
      signal: notes.length > 0 ? "SIGKILL" : null,
      output: noted === "" ? text : `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${noted}`,
      truncated,
      timedOut,
      durationMs: Math.round(performance.now() - startedAt),
    };
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener("abort", onAbort);
  }
}

/** How much longer than a command its box has to run, so that the end of the command can be read. */
const TIME_TO_SPARE_MS = 60_000;

/** Reads the output of a command. After an abort, a failure ends the output: the box may be removed already. */
async function* readLogs(command: BoxCommand, signal: AbortSignal): AsyncIterable<{ data: string }> {
  try {
    yield* command.logs();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
