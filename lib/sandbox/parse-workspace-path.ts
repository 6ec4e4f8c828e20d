import { fileNameBytes } from "#lib/disk/file-name.ts";
import { WorkspaceError } from "./workspace-error.ts";

const pathCharactersMax = 1_024;
const nameBytesMax = 255;

/**
 * Splits a path into its names, from the workspace's root down. The root itself ("", ".") has no names. A
 * name that is not UTF-8 is written with `\xHH`, as `list` shows it.
 *
 * @throws WorkspaceError if the path is absolute, contains `..` or NUL, or is longer than 1,024 characters, or if a
 * name is longer than 255 bytes.
 */
export function parseWorkspacePath(path: string): string[] {
  if (path.includes("\0")) throw new WorkspaceError("path: must not contain NUL");
  if (path.length > pathCharactersMax) {
    throw new WorkspaceError(`path: must be at most ${pathCharactersMax} characters`);
  }
  if (/^([/\\]|[a-z]:)/i.test(path)) {
    throw new WorkspaceError(
      'path: must be relative to the workspace ("notes.md", not "/workspace/notes.md")',
    );
  }
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  for (const name of names) {
    if (name.split("\\").includes("..")) throw new WorkspaceError('path: must not contain ".."');
    if (fileNameBytes(name).length > nameBytesMax) {
      throw new WorkspaceError(`path: a name must be at most ${nameBytesMax} bytes`);
    }
  }
  return names;
}
