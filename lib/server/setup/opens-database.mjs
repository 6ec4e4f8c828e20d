/** Which test files are worth running once more on another database. */
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const opening = /\b(openTestDatabase|prepareTestDatabase)\b/;
const startingItsOwn = /\bstartTestPostgres\b/;
const importing = /\bfrom "(#|\.{1,2}\/)([^"]+)"/g;
const helping = /(testing|fixture)[^/]*\.ts$|\/testing\//;

/**
 * Whether a test file opens the database that `TEST_DATABASE` names, by itself or through the helpers it imports. One
 * that starts a Postgres of its own does so under any setting: the helpers it imports open that one.
 * @param {string} path from the root of the repository
 */
export function opensDatabase(path) {
  const text = readFileSync(path, "utf8");
  return opening.test(text) || (!startingItsOwn.test(text) && reachesOpening(path, new Set()));
}

/**
 * @param {string} path
 * @param {Set<string>} visited
 * @returns {boolean}
 */
function reachesOpening(path, visited) {
  // What the helper of the database itself exports is used by whoever names it.
  if (visited.has(path) || path === "db/testing.ts") return false;
  visited.add(path);
  const text = readFileSync(path, "utf8");
  if (opening.test(text)) return true;
  return [...text.matchAll(importing)]
    .map(([, start, rest = ""]) => (start === "#" ? rest : join(dirname(path), `${start}${rest}`)))
    .filter((file) => helping.test(file) && statSync(file, { throwIfNoEntry: false })?.isFile())
    .some((file) => reachesOpening(file, visited));
}
