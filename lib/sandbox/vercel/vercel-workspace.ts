import { randomUUID } from "node:crypto";
import { oneLine } from "#lib/text/one-line.ts";
import { createOutputWindow } from "../local/output-window.ts";
import { argvOf } from "../local/run-program.ts";
import { parseWorkspacePath } from "../parse-workspace-path.ts";
import type { CommandResult, Workspace, WorkspaceEntry } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import { type BoxConfinement, confineInBox } from "./box-confinement.ts";
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

/**
 * Shell script that prints the type and size of path `$1`. If `$1` is a file, writes its first `$2` bytes to open file 3.
 */
const READ_FILE = `[ -e "$1" ] || { echo missing; exit; }
[ -d "$1" ] && { echo folder; exit; }
[ -f "$1" ] || { echo other; exit; }
printf 'file %s' "$(stat -Lc %s -- "$1")"; head -c "$2" -- "$1" >&3`;
/** Shell script that replaces file `$1` by its standard input. A file that exists keeps its permissions. */
const WRITE_FILE = `mkdir -p -- "$(dirname -- "$1")" && draft=$(mktemp -- "$1.XXXXXX") && cat > "$draft" || exit 1
chmod --reference="$1" -- "$draft" 2> /dev/null || chmod 644 -- "$draft"
mv -fT -- "$draft" "$1" || { rm -f -- "$draft"; exit 1; }`;
/**
 * Shell script that lists folder `$1` to depth `$2` (empty: all levels), at most `$3` entries; with `$4` also links and
 * special files. Prints the type, size and path of each entry, and a NUL after each entry.
 */
const LIST = `[ -d "$1" ] || { echo missing; exit 3; }
folder=$1 depth=$2 limit=$3 all=$4; shift 4; closed=()
for name; do closed+=(-o -name "$name"); done
find "$folder" -mindepth 1 \${depth:+-maxdepth "$depth"} \\( -type f -o -type d \${all:+-o -true} \\) -printf '%y %s %P\\0' \\
  -type d \\( -false "\${closed[@]}" \\) -prune | LC_ALL=C sort -z -k3 | head -z -n "$limit"`;
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
  const { workspace: root, programs, transfer, tmp, wrap } = confinement;
  const pathOf = (names: string[]) => [root, ...names].join("/");
  const newTransfer = () => `${transfer}/${randomUUID()}`;

  /** Runs one of the scripts above, confined. @returns its output and its exit code. */
  async function runScript(script: string, args: string[], files: Parameters<typeof wrap>[1] = {}) {
    const command = await box.runCommand({
      ...wrap(["bash", "-c", script, "bash", ...args], files),
      detached: true,
    });
    let text = "";
    for await (const { data } of command.logs()) {
      text += data;
      if (text.length > SCRIPT_OUTPUT_MAX) {
        await command.kill("SIGKILL");
        throw new WorkspaceError("path: the names below it are too long to be listed");
      }
    }
    return { text, exitCode: (await command.wait()).exitCode };
  }

  return {
    ...(note !== undefined && { note }),
    async readFile(path, limitBytes) {
      const names = parseWorkspacePath(path);
      const output = newTransfer();
      const { text } = await runScript(READ_FILE, [pathOf(names), String(limitBytes)], { output });
      const [kind, size = ""] = text.trim().split(" ");
      if (kind === "missing") throw new WorkspaceError(`path: ${path} does not exist`);
      if (kind === "folder") throw new WorkspaceError(`path: ${path} is a folder`);
      if (kind !== "file") throw new WorkspaceError(`path: ${path} is not a regular file`);
      const bytes = await box.readFileToBuffer({ path: output });
      if (bytes === null) throw new WorkspaceError(`path: ${path} does not exist`);
      return { bytes: bytes.subarray(0, limitBytes), totalBytes: Number(size) };
    },
    async writeFile(path, bytes) {
      const names = parseWorkspacePath(path);
      if (names.length === 0) throw new WorkspaceError("path: must name a file");
      if (bytes.byteLength > limits.writeBytesMax)
        throw new WorkspaceError(`content: must be at most ${limits.writeBytesMax} bytes`);
      const input = newTransfer();
      await box.writeFiles([{ path: input, content: bytes }]);
      const { text, exitCode } = await runScript(WRITE_FILE, [pathOf(names)], { input });
      if (exitCode !== 0)
        throw new WorkspaceError(`path: ${path} cannot be written: ${oneLine(text.replaceAll(root, "."))}`);
    },
    async list(path, { recursive, limit, all = false, closed = [] }) {
      const names = parseWorkspacePath(path);
      const depth = recursive ? "" : "1";
      const args = [pathOf(names), depth, String(limit), all ? "all" : "", ...closed];
      const { text } = await runScript(LIST, args);
      if (text.trim() === "missing") throw new WorkspaceError(`path: ${path || "."} is not a folder`);
      return text
        .split("\0")
        .filter(Boolean)
        .map((line) => readEntry(names, line));
    },
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

function readEntry(parents: string[], line: string): WorkspaceEntry {
  const [, type, size, name = ""] = /^(.) (\d+) (.*)$/s.exec(line) ?? [];
  return {
    path: [...parents, name].join("/"),
    type: ENTRY_TYPES[type ?? ""] ?? "other",
    sizeBytes: type === "f" ? Number(size) : 0,
  };
}

const ENTRY_TYPES: Record<string, WorkspaceEntry["type"]> = { f: "file", d: "directory", l: "link" };

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

/** Longest output of a script for files, in characters. */
const SCRIPT_OUTPUT_MAX = 4 * 2 ** 20;

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
