import { homedir, tmpdir } from "node:os";

/**
 * Folders of this machine whose paths no text may show. Kept on the global object, because this module may be loaded in
 * two module graphs.
 */
const FOLDERS = Symbol.for("agent-session-service.hidden-folders");
type Hidden = typeof globalThis & { [FOLDERS]?: Set<string> };

/** A path that begins at the root, without the character that precedes it. It ends at a space or a quotation mark. */
const REST_OF_PATH = String.raw`[^\s'"\`<>()]*`;

/** Node's message of a failed system call: `ENOENT: no such file or directory, open '/a' -> '/b'`. */
const SYSTEM_CALL = /\b(E[A-Z0-9]{2,}): ([^,\n]+), \w+(?: '[^\n]*')?/g;
/** Node's message of a program that could not be started: `spawn /usr/bin/program ENOENT`. */
const SPAWN = /\bspawn (?:\/[^\s/]+)*\/([^\s/]+) (E[A-Z0-9]{2,})/g;

/** Hides the paths of a folder and of everything in it from texts of {@link hidePaths}. */
export function hideFolder(folder: string): void {
  // Of a path such as `/`, nothing could be recognized.
  if (folder.length > 1) hiddenFolders().add(folder);
}

function hiddenFolders(): Set<string> {
  const holder = globalThis as Hidden;
  holder[FOLDERS] ??= new Set([process.cwd(), homedir(), tmpdir()].filter((folder) => folder.length > 1));
  return holder[FOLDERS];
}

/**
 * Removes paths of this machine from a text that leaves the service, for a person, the model, an event or an HTTP
 * answer: the paths that Node's errors quote, and those of the data folder, the folder that the service runs in, the
 * home and the folder of temporary files.
 */
export function hidePaths(text: string): string {
  const shown = text.replace(SYSTEM_CALL, "$2 ($1)").replace(SPAWN, "spawn $1 $2");
  // Longer paths first, because one folder may be in another.
  const folders = [...hiddenFolders()].toSorted((one, other) => other.length - one.length);
  return folders.reduce((left, folder) => {
    if (!left.includes(folder)) return left;
    const path = new RegExp(
      String.raw`(?:file://)?(?<![\w.~-])${escapePattern(folder)}(?:(?=$|[\s'"\`<>():,;])|[/\\]${REST_OF_PATH})`,
      "g",
    );
    return left.replace(path, "[path]");
  }, shown);
}

/** Returns the message of an error for a person or the model, without paths of this machine. */
export const errorText = (error: unknown): string =>
  hidePaths(error instanceof Error ? error.message : String(error));

const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
