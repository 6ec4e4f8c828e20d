import { createOutputWindow } from "../local/output-window.ts";
import { argvOf } from "../local/run-program.ts";
import { parseWorkspacePath } from "../parse-workspace-path.ts";
import type { CommandResult, Workspace, WorkspaceEntry } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import { hasStatus } from "./sdk-errors.ts";
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
 * Shell script that prints the type and size of path `$1`. If `$1` is a file of more than `$2` bytes, the script copies
 * the first `$2` bytes to a temporary file and prints the path of the temporary file, too.
 */
const STAT_FILE = `[ -e "$1" ] || { echo missing; exit; }
[ -d "$1" ] && { echo folder; exit; }
[ -f "$1" ] || { echo other; exit; }
size=$(stat -Lc %s -- "$1"); cut=
if [ "$size" -gt "$2" ]; then cut=$(mktemp); head -c "$2" -- "$1" > "$cut"; fi
printf 'file %s %s' "$size" "$cut"`;

/**
 * Shell script that lists folder `$1` to depth `$2` (empty: all levels), at most `$3` entries; with `$4` also links and
 * special files. Prints the type, size and path of each entry, and a NUL after each entry.
 */
const LIST = `[ -d "$1" ] || { echo missing; exit 3; }
folder=$1 depth=$2 limit=$3 all=$4; shift 4; closed=()
for name; do closed+=(-o -name "$name"); done
find "$folder" -mindepth 1 \${depth:+-maxdepth "$depth"} \\( -type f -o -type d \${all:+-o -true} \\) -printf '%y %s %P\\0' \\
  -type d \\( -false "\${closed[@]}" \\) -prune | LC_ALL=C sort -z -k3 | head -z -n "$limit"`;

/** Shell script that makes a folder for the files of a program, and prints its path, if the runtime `$1` is installed. */
const MAKE_FOLDER = `command -v -- "$1" > /dev/null && mktemp -d`;

/**
 * Shell script that runs the program `$3` with the arguments after it, in folder `$1` with the home `$2`. Of the box's
 * environment, only PATH is passed on.
 */
const RUN_PROGRAM = `cd -- "$1" && mkdir -p -- "$2" || exit 126
home=$2; shift 2
exec env -i "PATH=$PATH" "HOME=$home" LANG=C.UTF-8 TERM=dumb "$@"`;

/**
 * Opens the workspace of one session in a Vercel Sandbox: a folder in the home of the box's user. Each session has its own
 * machine, so a link that a command creates cannot lead to another session.
 */
export async function openVercelWorkspace(options: VercelWorkspaceOptions): Promise<Workspace> {
  const { box, limits, closing, note } = options;
  const root = `${box.cwd}/sandbox`;
  const pathOf = (names: string[]) => [root, ...names].join("/");

  /** Runs one of the scripts above. @returns its output. */
  async function runScript(script: string, ...args: string[]): Promise<string> {
    const command = await box.runCommand({
      cmd: "bash",
      args: ["-c", script, "bash", ...args],
      detached: true,
    });
    let text = "";
    for await (const { data } of command.logs()) text += data;
    await command.wait();
    return text;
  }

  await runScript(`mkdir -p -- "$1"`, root);

  return {
    ...(note !== undefined && { note }),

    async readFile(path, limitBytes) {
      const names = parseWorkspacePath(path);
      const [kind, size = "", cut] = (await runScript(STAT_FILE, pathOf(names), String(limitBytes)))
        .trim()
        .split(" ");
      if (kind === "missing") throw new WorkspaceError(`path: ${path} does not exist`);
      if (kind === "folder") throw new WorkspaceError(`path: ${path} is a folder`);
      if (kind !== "file") throw new WorkspaceError(`path: ${path} is not a regular file`);
      const bytes = await box.readFileToBuffer({ path: cut || pathOf(names) });
      if (bytes === null) throw new WorkspaceError(`path: ${path} does not exist`);
      return { bytes: bytes.subarray(0, limitBytes), totalBytes: Number(size) };
    },

    async writeFile(path, bytes) {
      const names = parseWorkspacePath(path);
      if (names.length === 0) throw new WorkspaceError("path: must name a file");
      if (bytes.byteLength > limits.writeBytesMax)
        throw new WorkspaceError(`content: must be at most ${limits.writeBytesMax} bytes`);
      await box.writeFiles([{ path: pathOf(names), content: bytes }]);
    },

    async list(path, { recursive, limit, all = false, closed = [] }) {
      const names = parseWorkspacePath(path);
      const depth = recursive ? "" : "1";
      const text = await runScript(LIST, pathOf(names), depth, String(limit), all ? "all" : "", ...closed);
      if (text.trim() === "missing") throw new WorkspaceError(`path: ${path || "."} is not a folder`);
      return text
        .split("\0")
        .filter(Boolean)
        .map((line) => readEntry(names, line));
    },

    async run(command, { timeoutMs, signal, cwd }) {
      const folder = parseWorkspacePath(cwd ?? "");
      return runInBox(box, limits, {
        args: ["-c", `cd -- "$1" && eval "$2"`, "bash", pathOf(folder), command],
        timeoutMs,
        signal: AbortSignal.any([signal, closing]),
      });
    },

    async runProgram(program, { timeoutMs, signal }) {
      const names = program.files.map(({ path }) => parseWorkspacePath(path));
      const { runtime } = program;
      const parent = (await runScript(MAKE_FOLDER, runtime)).trim();
      if (parent === "") throw new WorkspaceError(`${runtime} is not installed in the sandbox`);
      const folder = `${parent}/files`;
      try {
        await box.writeFiles(
          program.files.map(({ bytes }, index) => ({
            path: [folder, ...(names[index] ?? [])].join("/"),
            content: bytes,
          })),
        );
        return await runInBox(box, limits, {
          args: ["-c", RUN_PROGRAM, "bash", root, `${parent}/home`, ...argvOf(runtime, folder, program)],
          timeoutMs,
          signal: AbortSignal.any([signal, closing]),
        });
      } finally {
        // This fails if the box was removed. In that case, its files are gone, too.
        await runScript(`rm -rf -- "$1"`, parent).catch(() => {});
      }
    },

    async runTests() {
      throw new WorkspaceError(
        "test runs are not available on Vercel Sandbox: a box reaches neither a Chromium nor the service's proxy",
      );
    },
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

/** A command to run. `args` are the arguments of Bash. */
type BoxRun = { args: string[]; timeoutMs: number; signal: AbortSignal };

/** Runs a command of the agent. Kills it at its deadline, when the signal fires, or when there is too much output. */
async function runInBox(box: OpenBox, limits: BoxLimits, run: BoxRun): Promise<CommandResult> {
  const { args, timeoutMs, signal } = run;
  signal.throwIfAborted();
  const startedAt = performance.now();
  const output = createOutputWindow(limits.outputBytesMax);
  const notes: string[] = [];
  await ensureTimeLeft(box, timeoutMs);
  const started = await box.runCommand({
    cmd: "bash",
    args,
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

/** Extends the session of a box that would end before a command of `timeoutMs` does. A stopped box resumes with its full time. */
async function ensureTimeLeft(box: OpenBox, timeoutMs: number): Promise<void> {
  const leftMs = Math.max(0, (box.expiresAt?.getTime() ?? 0) - Date.now());
  const missingMs = timeoutMs + TIME_TO_SPARE_MS - leftMs;
  if (missingMs <= 0) return;
  try {
    await box.extendTimeout(missingMs);
  } catch (error) {
    // The plan's longest session is reached. The command runs as long as the box does; the next one resumes the box.
    if (!hasStatus(error, 400, 422)) throw error;
  }
}

/** Reads the output of a command. After an abort, a failure ends the output: the box may be removed already. */
async function* readLogs(command: BoxCommand, signal: AbortSignal): AsyncIterable<{ data: string }> {
  try {
    yield* command.logs();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
