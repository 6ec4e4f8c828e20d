import { randomUUID } from "node:crypto";
import { oneLine } from "#lib/text/one-line.ts";
import { createPathLocks } from "../local/path-locks.ts";
import { changed } from "../local/stored-file.ts";
import { parseWorkspacePath } from "../parse-workspace-path.ts";
import type { ExpectedVersion, StoredFile, Workspace, WorkspaceEntry } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import type { BoxConfinement } from "./box-confinement.ts";
import type { BoxLimits, OpenBox } from "./vercel-box.ts";

/**
 * Shell script that prints the type and size of path `$1`. If `$1` is a file, writes its first `$2` bytes to open file 3.
 */
const READ_FILE = `[ -e "$1" ] || { echo missing; exit; }
[ -d "$1" ] && { echo folder; exit; }
[ -f "$1" ] || { echo other; exit; }
printf 'file %s' "$(stat -Lc %s -- "$1")"; head -c "$2" -- "$1" >&3`;
/** Shell function that prints what {@link parseStored} reads about file `$1`. */
const DESCRIBE = `describe() { stat $2 -c '%s %i %.9Y %.9Z' -- "$1"; }
`;
/** Shell script that describes path `$1`. If it is a file, writes `$3` bytes from offset `$2` to open file 3. */
const READ_PART = `${DESCRIBE}[ -e "$1" ] || { echo missing; exit; }
[ -d "$1" ] && { echo folder; exit; }
[ -f "$1" ] || { echo other; exit; }
printf 'file %s' "$(describe "$1" -L)"; [ "$3" = 0 ] || tail -c "+$(($2 + 1))" -- "$1" | head -c "$3" >&3`;
/**
 * Beginning of shell scripts that change path `$1`: ends with exit code 4 if it is not what `$2` expects (`absent`, `any`,
 * a version; empty for no expectation). A link is not followed.
 */
const CHECK_EXPECTED = `${DESCRIBE}is_there() { [ -e "$1" ] || [ -L "$1" ]; }
case "$2" in
'') ;;
absent) ! is_there "$1" || exit 4 ;;
any) is_there "$1" || exit 4 ;;
*) [ "$(describe "$1" 2> /dev/null)" = "$2" ] || exit 4 ;;
esac
`;
/**
 * Shell script that replaces file `$1` by its standard input, if it is what `$2` expects, and describes the new file. A
 * file that exists keeps its permissions.
 */
const WRITE_FILE = `${CHECK_EXPECTED}mkdir -p -- "$(dirname -- "$1")" && draft=$(mktemp -- "$1.XXXXXX") && cat > "$draft" || exit 1
chmod --reference="$1" -- "$draft" 2> /dev/null || chmod 644 -- "$draft"
if [ "$2" = absent ]; then ln -T -- "$draft" "$1" || { rm -f -- "$draft"; is_there "$1" && exit 4; exit 1; }; rm -f -- "$draft"
else mv -fT -- "$draft" "$1" || { rm -f -- "$draft"; exit 1; }; fi
describe "$1"`;
/** Shell script that removes file, link or empty folder `$1`, if it is what `$2` expects. */
const REMOVE = `${CHECK_EXPECTED}is_there "$1" || { echo missing; exit 3; }
if [ -d "$1" ] && [ ! -L "$1" ]; then rmdir -- "$1" 2> /dev/null || { echo full; exit 3; }; else rm -f -- "$1"; fi`;
/**
 * Shell script that lists folder `$1` to depth `$2` (empty: all levels), at most `$3` entries; with `$4` also links and
 * special files. Prints the type, size, time of last change and path of each entry, and a NUL after each entry.
 */
const LIST = `[ -d "$1" ] || { echo missing; exit 3; }
folder=$1 depth=$2 limit=$3 all=$4; shift 4; closed=()
for name; do closed+=(-o -name "$name"); done
find "$folder" -mindepth 1 \${depth:+-maxdepth "$depth"} \\( -type f -o -type d \${all:+-o -true} \\) -printf '%y %s %T@ %P\\0' \\
  -type d \\( -false "\${closed[@]}" \\) -prune | LC_ALL=C sort -z -k4 | head -z -n "$limit"`;
/** The operations of a workspace on its files. */
type FileOperations = Pick<Workspace, "readFile" | "readPart" | "writeFile" | "remove" | "list">;

/**
 * Creates the operations on the files of a box. Their scripts run in the confinement of the agent's commands, so a link
 * that a command creates leads nowhere else.
 */
export function createBoxFiles(options: {
  box: OpenBox;
  confinement: BoxConfinement;
  limits: BoxLimits;
}): FileOperations {
  const { box, limits } = options;
  const { workspace: root, transfer, wrap } = options.confinement;
  const lock = createPathLocks();
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
    async readFile(path, limitBytes) {
      const names = parseWorkspacePath(path);
      const output = newTransfer();
      const { text } = await runScript(READ_FILE, [pathOf(names), String(limitBytes)], { output });
      const [kind, size = ""] = text.trim().split(" ");
      if (kind !== "file") throw refuseKind(path, kind ?? "");
      const bytes = await box.readFileToBuffer({ path: output });
      if (bytes === null) throw refuseKind(path, "missing");
      return { bytes: bytes.subarray(0, limitBytes), totalBytes: Number(size) };
    },
    async readPart(path, { offset, limitBytes }) {
      const names = parseWorkspacePath(path);
      const output = newTransfer();
      const args = [pathOf(names), String(offset), String(limitBytes)];
      const { text } = await runScript(READ_PART, args, { output });
      const file = parseStored(text.trim().replace(/^file /, ""));
      if (!file) throw refuseKind(path, text.trim());
      if (limitBytes === 0) return { bytes: new Uint8Array(), file };
      const bytes = await box.readFileToBuffer({ path: output });
      if (bytes === null) throw refuseKind(path, "missing");
      return { bytes: bytes.subarray(0, limitBytes), file };
    },
    async writeFile(path, bytes, expected) {
      const names = parseWorkspacePath(path);
      if (names.length === 0) throw new WorkspaceError("path: must name a file");
      if (bytes.byteLength > limits.writeBytesMax)
        throw new WorkspaceError(`content: must be at most ${limits.writeBytesMax} bytes`);
      const input = newTransfer();
      await box.writeFiles([{ path: input, content: bytes }]);
      const { text, exitCode } = await lock(names.join("/"), () =>
        runScript(WRITE_FILE, [pathOf(names), toArgument(expected)], { input }),
      );
      if (exitCode === NOT_EXPECTED && expected !== undefined) throw changed(path, expected);
      const file = parseStored(text.trim());
      if (exitCode !== 0 || !file)
        throw new WorkspaceError(`path: ${path} cannot be written: ${oneLine(text.replaceAll(root, "."))}`);
      return file;
    },
    async remove(path, expected) {
      const names = parseWorkspacePath(path);
      if (names.length === 0) throw new WorkspaceError("path: must name a file");
      const { text, exitCode } = await lock(names.join("/"), () =>
        runScript(REMOVE, [pathOf(names), toArgument(expected)]),
      );
      if (exitCode === NOT_EXPECTED && expected !== undefined) throw changed(path, expected);
      if (text.trim() === "missing") throw refuseKind(path, "missing");
      if (text.trim() === "full") throw new WorkspaceError(`path: ${path} is a folder that is not empty`);
      if (exitCode !== 0)
        throw new WorkspaceError(`path: ${path} cannot be removed: ${oneLine(text.replaceAll(root, "."))}`);
    },
    async list(path, { recursive, limit, all = false, times = false, closed = [] }) {
      const names = parseWorkspacePath(path);
      const depth = recursive ? "" : "1";
      const args = [pathOf(names), depth, String(limit), all ? "all" : "", ...closed];
      const { text } = await runScript(LIST, args);
      if (text.trim() === "missing")
        throw new WorkspaceError(`path: ${path || "."} is not a folder`, undefined, "missing");
      return text
        .split("\0")
        .filter(Boolean)
        .map((line) => readEntry(names, line, times));
    },
  };
}

function readEntry(parents: string[], line: string, times: boolean): WorkspaceEntry {
  const [, type, size, seconds, name = ""] = /^(.) (\d+) ([\d.-]+) (.*)$/s.exec(line) ?? [];
  return {
    path: [...parents, name].join("/"),
    type: ENTRY_TYPES[type ?? ""] ?? "other",
    sizeBytes: type === "f" ? Number(size) : 0,
    ...(times && { modifiedAtMs: Math.floor(Number(seconds) * 1_000) }),
  };
}

/** Exit code of a script whose file was not the expected one. */
const NOT_EXPECTED = 4;

const toArgument = (expected: ExpectedVersion | undefined): string =>
  typeof expected === "object" ? expected.version : (expected ?? "");

/** Reads the description of a file that a script has printed: size, inode, and the times of its last changes. */
function parseStored(text: string): StoredFile | undefined {
  const [, size, seconds] = /^(\d+) \d+ (\d+\.\d+) \d+\.\d+$/.exec(text) ?? [];
  if (size === undefined) return undefined;
  return { sizeBytes: Number(size), modifiedAtMs: Math.floor(Number(seconds) * 1_000), version: text };
}

/** @param kind what a script has printed about a path that is no file. */
function refuseKind(path: string, kind: string): WorkspaceError {
  if (kind === "missing") return new WorkspaceError(`path: ${path} does not exist`, undefined, "missing");
  return new WorkspaceError(`path: ${path} ${kind === "folder" ? "is a folder" : "is not a regular file"}`);
}

const ENTRY_TYPES: Record<string, WorkspaceEntry["type"]> = { f: "file", d: "directory", l: "link" };

/** Longest output of a script for files, in characters. */
const SCRIPT_OUTPUT_MAX = 4 * 2 ** 20;
