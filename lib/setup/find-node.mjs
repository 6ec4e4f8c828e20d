/** Step 2 of the setup: finds the Node executable that runs everything else. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { runCommand } from "./command.mjs";
import { SetupError } from "./setup-error.mjs";

const versionWanted = 24;

/**
 * Finds Node 24 or later: the Node that runs this script, or otherwise the one in node_modules.
 * @returns {Promise<string>} the absolute path of the executable
 * @throws {SetupError} if neither Node is recent enough
 */
export async function findNode() {
  // From the second run on, the Node that runs this script is recent enough, because npm then starts this script with
  // the Node in node_modules.
  if (isRecent(process.version)) return process.execPath;
  const answer = await runCommand(bundledNode(), ["--version"], { timeoutMs: 10_000 });
  if (answer.ok && isRecent(answer.output)) return bundledNode();
  throw new SetupError(
    `Node ${versionWanted} or later is required on ${process.platform}-${process.arch}, but this is Node ${process.versions.node}. Install it from https://nodejs.org and run the command again.`,
  );
}

/**
 * Whether the Node that package-lock.json lists for this platform is required but not installed. It can be missing
 * after a successful `npm ci`, because npm reports no error if the installation of an optional package fails.
 * @param {Record<string, unknown>} lockedPackages
 */
export function isNodeMissing(lockedPackages) {
  if (isRecent(process.version)) return false;
  return bundledFolder() in lockedPackages && !existsSync(bundledNode());
}

function bundledFolder() {
  return `node_modules/node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
}

function bundledNode() {
  return resolve(join(bundledFolder(), "bin", process.platform === "win32" ? "node.exe" : "node"));
}

/** @param {string} version a version such as "v24.21.0" */
function isRecent(version) {
  return Number(/^v(\d+)\./.exec(version.trim())?.[1] ?? 0) >= versionWanted;
}
