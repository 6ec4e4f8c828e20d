/** Runs several unit test files in one process, which loads and compiles the modules that they share only once. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Number of files in one process. To load the service takes three seconds of processor time, so short files share a process
 * in large groups. With large groups of long files, the processes would end at very different times.
 */
const FILES_MAX = { long: 8, short: 24 };
/** A file with this comment, followed by its reason, gets a process of its own. */
const OWN_PROCESS = /^\/\/ Needs a process of its own: /m;
/** Rooms whose tests run services, browsers and commands, which takes longest. Much of that time is spent waiting. */
const LONG = /^(e2e\/(eval|service|variants)|lib\/(browser|browser-host|sandbox|tools))\//;

/**
 * Groups test files. The files of a group are neighbours in the list; those of long groups are also in the same room.
 * @param {readonly string[]} files
 * @param {(file: string) => string} read
 * @returns {string[][]}
 */
export function groupTestFiles(files, read = (file) => readFileSync(file, "utf8")) {
  const rooms = { long: /** @type {string[][]} */ ([]), short: /** @type {string[][]} */ ([]) };
  const alone = { long: /** @type {string[][]} */ ([]), short: /** @type {string[][]} */ ([]) };
  for (const file of files) {
    const kind = LONG.test(file) ? "long" : "short";
    if (OWN_PROCESS.test(read(file))) {
      alone[kind].push([file]);
      continue;
    }
    const last = rooms[kind].at(-1);
    const fits =
      last && last.length < FILES_MAX[kind] && (kind === "short" || roomOf(last[0]) === roomOf(file));
    if (fits) last.push(file);
    else rooms[kind].push([file]);
  }
  return mixGroups([...alone.long, ...rooms.long], [...alone.short, ...rooms.short]);
}

/**
 * Orders the groups. Long groups wait for pages and processes, and short groups compute, so they run side by side: the
 * processors are then busy from the start to the end. The last groups are short, so that no long one runs alone.
 * @param {string[][]} long
 * @param {string[][]} short
 */
function mixGroups(long, short) {
  const share = short.length / (long.length + 1);
  const taken = (/** @type {number} */ index) => Math.floor(index * share);
  const mixed = long.flatMap((group, index) => [group, ...short.slice(taken(index), taken(index + 1))]);
  return [...mixed, ...short.slice(taken(long.length))];
}

const roomOf = (file = "") => dirname(file).split("/").slice(0, 2).join("/");

/**
 * Writes a file that runs a group. Each test file becomes a suite, so that its hooks apply only to its own tests. The
 * next test file is loaded when the tests of the previous one have ended.
 * @param {readonly string[]} files
 * @param {string} folder
 * @param {number} index
 * @returns {string} the path of the file. Node runs files in the order of their paths, which is the order of the indexes.
 */
export function writeGroup(files, folder, index) {
  const path = join(folder, `${String(index).padStart(4, "0")}.test.mjs`);
  const limit = new URL("./limit-test-file.mjs", import.meta.url).href;
  const urls = files.map((file) => pathToFileURL(resolve(file)).href);
  writeFileSync(
    path,
    `import { after, describe } from "node:test";
import { fileURLToPath } from "node:url";
import { limitNextFile } from ${JSON.stringify(limit)};
for (const url of ${JSON.stringify(urls)}) {
  const ended = Promise.withResolvers();
  limitNextFile();
  describe(fileURLToPath(url), async () => {
    await import(url);
    after(() => ended.resolve());
  });
  await ended.promise;
}
`,
  );
  return path;
}
