#!/usr/bin/env node
/**
 * The two commands: `npm start` and `npm test` (and `npm run dev`, `npm run setup`, `npm run bench`, `npm run keys`, `npm run login`) from a fresh clone.
 *
 * Everything in this folder that ends in .mjs is plain JavaScript with JSDoc types, the one exception to ".ts only":
 * it runs first, on a Node 20 that cannot read TypeScript, before any package is installed. For the same reason it
 * reads the environment itself: lib/server/env.ts comes later. Each step is skipped when its stamp is current.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ensureBuilt } from "./build.mjs";
import { ensureBrowser } from "./chromium/ensure-browser.mjs";
import { endCommandsOnSignal } from "./command.mjs";
import { ensureDatabase } from "./ensure-database.mjs";
import { findNode } from "./find-node.mjs";
import { ensureInstalled } from "./install.mjs";
import { SetupError } from "./setup-error.mjs";

const usage =
  "Usage: node lib/setup/run.mjs start | dev | test [--unit | --e2e] [filter …] | bench [option …] | faults [option …] | keys <command> | login | project-schema <file …> | backup [file] | restore <file> [--replace] | import-pglite | setup | client";

/** Commands that need the packages and nothing else: the script of each, and the words before the caller's own. */
const tools = new Map([
  ["keys", ["lib/commands/keys/main.ts"]],
  ["login", ["lib/commands/login/main.ts"]],
  ["project-schema", ["lib/deliverable/project-schema/main.ts"]],
  ["backup", ["lib/commands/backup/main.ts", "backup"]],
  ["restore", ["lib/commands/backup/main.ts", "restore"]],
  ["import-pglite", ["lib/commands/backup/main.ts", "import-pglite"]],
]);

/**
 * @param {string | undefined} command
 * @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
async function run(command, args) {
  if (
    command === undefined ||
    !["start", "dev", "test", "bench", "faults", "setup", "client", ...tools.keys()].includes(command)
  ) {
    console.error(usage);
    return 1;
  }
  process.chdir(fileURLToPath(new URL("../..", import.meta.url)));
  // Tests, bench and fault campaign must not depend on what a person keeps in .env.
  if (!["test", "bench", "faults"].includes(command) && existsSync(".env")) process.loadEnvFile(".env");
  const stopListening = endCommandsOnSignal();
  await ensureInstalled();
  const node = await findNode();
  if (command === "client") {
    const { buildClient, clientFolder, makeClientTypes } = await import("./build-client.mjs");
    await makeClientTypes(node);
    await buildClient(node);
    console.log(`Built: ${clientFolder}, to be installed with \`npm install <path to it>\`.`);
    return 0;
  }
  const tool = tools.get(command);
  if (tool !== undefined) {
    const { runCommand } = await import("./command.mjs");
    const script = ["--disable-warning=ExperimentalWarning", ...tool, ...args];
    return (await runCommand(node, script, { inherit: true })).exitCode;
  }
  const chromium = await ensureBrowser(node, command === "setup");
  const browserEnv =
    chromium === null ? {} : { BROWSER_EXECUTABLE_PATH: chromium.executablePath, ...chromium.env };
  await ensureDatabase(node);
  if (command === "test") {
    const { runTests } = await import("./tests/run-tests.mjs");
    return runTests(node, args, browserEnv);
  }
  if (command !== "dev") await ensureBuilt(node);
  if (command === "setup") {
    console.log("Ready: `npm start` starts the service.");
    return 0;
  }
  if (command === "bench") {
    const { runBench } = await import("./run-bench.mjs");
    return runBench(node, args, browserEnv);
  }
  if (command === "faults") {
    const { runFaults } = await import("./run-faults.mjs");
    return runFaults(node, args, browserEnv);
  }
  const { serve } = await import("./serve.mjs");
  stopListening();
  return serve(node, command === "dev" ? "development" : "production");
}

try {
  process.exitCode = await run(process.argv[2], process.argv.slice(3));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  if (error.details !== "") console.error(`\n${error.details.trimEnd()}\n`);
  console.error(error.message);
  process.exitCode = 1;
}
