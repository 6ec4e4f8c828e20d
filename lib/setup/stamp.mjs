/**
 * Stamps are small JSON files that record the inputs of a finished step. The step is skipped until these inputs change.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Returns the SHA-256 of a file in hex, or "missing" if the file cannot be read.
 * @param {string} path
 */
export function hashFile(path) {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    return "missing";
  }
}

/**
 * Returns one hash of the paths, sizes and modification times of all given files. The files are not read.
 * @param {string[]} paths files and folders with all files below them. Missing paths are ignored
 * @param {(path: string) => boolean} [isCounted]
 */
export function hashTree(paths, isCounted = () => true) {
  const hash = createHash("sha256");
  for (const path of paths.flatMap((root) => listFiles(root)).sort()) {
    if (!isCounted(path)) continue;
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

/**
 * Lists all files in a folder and below it. For the path of a file, returns only that file; for a path that does not
 * exist, returns an empty list.
 * @param {string} root
 * @returns {string[]}
 */
export function listFiles(root) {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [root];
  return readdirSync(root, { withFileTypes: true }).flatMap((entry) => {
    const path = join(root, entry.name);
    if (entry.isDirectory()) return listFiles(path);
    return entry.isFile() ? [path] : [];
  });
}

/**
 * Reads a stamp. Returns undefined if it is missing or invalid.
 * @param {string} path
 * @returns {Record<string, unknown> | undefined}
 */
export function readStamp(path) {
  try {
    const content = JSON.parse(readFileSync(path, "utf8"));
    return typeof content === "object" && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes a stamp atomically.
 * @param {string} path
 * @param {object} content
 */
export function writeStamp(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(draft, path);
}
