/** Step 1 of the setup: installs the packages of package-lock.json into node_modules. */
import { existsSync } from "node:fs";
import { delimiter, join, sep } from "node:path";
import { runCommand } from "./command.mjs";
import { isNodeMissing } from "./find-node.mjs";
import { showStep } from "./progress.mjs";
import { SetupError } from "./setup-error.mjs";
import { hashFile, readStamp, writeStamp } from "./stamp.mjs";

const stampPath = "node_modules/.setup.json";
/** @typedef {Record<string, { version?: string, optional?: boolean, devOptional?: boolean, link?: boolean }>} Packages */

/**
 * Installs the locked packages unless node_modules already contains them.
 * @throws {SetupError} if npm fails; the error contains the whole output of npm
 */
export async function ensureInstalled() {
  const lockfile = hashFile("package-lock.json");
  const isCurrent = readStamp(stampPath)?.lockfile === lockfile;
  if (isCurrent && !isNodeMissing(readLockedPackages())) return;
  if (!isAlreadyInstalled()) await showStep("Installing packages", installPackages);
  writeStamp(stampPath, { lockfile: hashFile("package-lock.json") });
}

/**
 * There is no fallback to `npm install`: it would install packages that the lockfile does not name, unchecked.
 * @throws {SetupError}
 */
async function installPackages() {
  const { ok, output } = await runNpm(["ci", ...quietFlags]);
  if (!ok) throw describeFailure(output);
}

// The log level "error" hides npm's warning that packages need Node 24. The warning would mislead users, because Node
// 24 is one of the installed packages.
const quietFlags = ["--loglevel=error", "--no-audit", "--no-fund", "--include=dev", "--include=optional"];

/**
 * Runs npm with a Node from outside node_modules, because `npm ci` removes the Node in node_modules. If this process is
 * killed, npm is killed too: otherwise it would change node_modules while the next setup installs there.
 * @param {string[]} args
 * @param {import("./command.mjs").CommandOptions} [options]
 */
export function runNpm(args, options = {}) {
  const env = { ...options.env, PATH: outsidePath(), PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: "1" };
  const settings = { ...options, env, endsWithParent: true };
  const script = process.env.npm_execpath;
  if (script !== undefined && /npm-cli\.c?js$/.test(script)) {
    return runCommand(findOutsideNode(), [script, ...args], settings);
  }
  const isWindows = process.platform === "win32";
  return isWindows
    ? runCommand("cmd.exe", ["/d", "/s", "/c", "npm", ...args], settings)
    : runCommand("npm", args, settings);
}

/** Returns PATH without the node_modules folders that `npm run` puts in front of the others. */
function outsidePath() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.filter((folder) => !folder.includes(`${sep}node_modules${sep}.bin`)).join(delimiter);
}

function findOutsideNode() {
  const name = process.platform === "win32" ? "node.exe" : "node";
  const candidates = outsidePath()
    .split(delimiter)
    .map((folder) => join(folder, name));
  return candidates.find((path) => existsSync(path)) ?? process.execPath;
}

/**
 * Whether a manual `npm install` has already installed the locked versions, according to npm's record in node_modules.
 * Optional packages, such as those for other platforms, may be absent.
 */
function isAlreadyInstalled() {
  const wanted = readLockedPackages();
  const present = /** @type {Packages | undefined} */ (
    readStamp("node_modules/.package-lock.json")?.packages
  );
  if (present === undefined || isNodeMissing(wanted)) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const found = present[path];
    if (found === undefined) return entry.optional === true || entry.devOptional === true;
    return found.version === entry.version && existsSync(path);
  });
}

/** @returns {Packages} */
function readLockedPackages() {
  return /** @type {Packages | undefined} */ (readStamp("package-lock.json")?.packages) ?? {};
}

const refused =
  "npm ci refused package-lock.json, because it does not fit package.json. If you have changed package.json, run `npm run lockfile`. " +
  "Otherwise restore both files, for example with `git checkout package.json package-lock.json`. Then run the command again.";
const changed =
  "A package is not the one that package-lock.json names: its checksum differs. Run `npm cache clean --force` and the command again. " +
  "If it fails again, the registry or a proxy changes packages: check `npm config get registry`.";
const full = "The disk is full. Free about 1.5 GB and run the command again.";
const unreachable =
  "The npm registry cannot be reached. Check the connection, `npm config get registry` and the proxy, then run the command again.";
const unknown =
  "See the output of npm above. To start from scratch, run `rm -rf node_modules` and the command again.";

const failures = [
  { pattern: /EINTEGRITY/, advice: changed },
  { pattern: /ENOSPC/, advice: full },
  { pattern: /EUSAGE|ERESOLVE|can only install packages when/, advice: refused },
  { pattern: /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|network/i, advice: unreachable },
];

/** @param {string} output the output of npm */
function describeFailure(output) {
  const advice = failures.find(({ pattern }) => pattern.test(output))?.advice ?? unknown;
  return new SetupError(`Installing the packages failed. ${advice}`, output);
}
