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
  const name = process.platform === "win32" ? "node.exe" : "node";
  const bundled = resolve(join("node_modules", `node-${process.platform}-${process.arch}`, "bin", name));
  // `npm start` already runs on it from the second time on, which saves starting it just to ask.
  if (isRecent(process.version)) return process.execPath;
  if (existsSync(bundled)) {
    const answer = await runCommand(bundled, ["--version"], { timeoutMs: 10_000 });
    if (answer.ok && isRecent(answer.output)) return bundled;
  }
  throw new SetupError(
    `Node ${versionWanted} or later is needed on ${process.platform}-${process.arch}, and this is Node ${process.versions.node}: install it from https://nodejs.org and run the command again.`,
  );
}

/** @param {string} version "v24.21.0" */
function isRecent(version) {
  return Number(/^v(\d+)\./.exec(version.trim())?.[1] ?? 0) >= versionWanted;
}
