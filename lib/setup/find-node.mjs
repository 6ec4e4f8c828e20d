/** Step 2: the Node that runs everything else. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { runCommand } from "./command.mjs";
import { SetupError } from "./setup-error.mjs";

const versionWanted = 24;

/**
 * The executable of a Node of version 24 or later: the one in node_modules, else the one that runs this.
 * @returns {Promise<string>} an absolute path
 * @throws {SetupError} when there is neither
 */
export async function findNode() {
  // `npm start` already runs on it from the second time on, which saves starting it just to ask.
  if (isRecent(process.version)) return process.execPath;
  const answer = await runCommand(bundledNode(), ["--version"], { timeoutMs: 10_000 });
  if (answer.ok && isRecent(answer.output)) return bundledNode();
  throw new SetupError(
    `Node ${versionWanted} or later is needed on ${process.platform}-${process.arch}, and this is Node ${process.versions.node}: install it from https://nodejs.org and run the command again.`,
  );
}

/**
 * Whether Node 24 is needed from the packages and is not there: an optional package that failed to install is silent.
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

/** @param {string} version "v24.21.0" */
function isRecent(version) {
  return Number(/^v(\d+)\./.exec(version.trim())?.[1] ?? 0) >= versionWanted;
}
