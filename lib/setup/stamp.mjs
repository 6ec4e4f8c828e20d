/** Small JSON files that say what a step was last done for, so that it is skipped while nothing changed. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * SHA-256 of a file's bytes, in hex; "missing" when there is none.
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
 * One hash over path, size and time of change of every file below the given files and folders, without reading them.
 * @param {string[]} paths those that do not exist are left out
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
 * Every file below a folder, or the file itself; nothing when it does not exist.
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
 * The stamp's content, or undefined when there is none or it cannot be read.
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
 * Writes the stamp whole or not at all.
 * @param {string} path
 * @param {object} content
 */
export function writeStamp(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(draft, path);
}
