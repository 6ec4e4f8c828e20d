#!/usr/bin/env node
/**
 * The entry point of `npm start`, `npm test` and the other npm scripts. They all work in a fresh clone.
 *
 * The .mjs files in this folder are plain JavaScript with JSDoc types, although all other code is TypeScript. They run
 * before any package is installed, possibly on Node 20, which cannot load TypeScript. For the same reason they read the
 * environment themselves instead of through lib/server/env.ts. Each step is skipped while its stamp is current.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { ensureBuilt } from "./build.mjs";
import { ensureBoxProgram } from "./build-box-program.mjs";
import { ensureInjected } from "./build-injected.mjs";
import { ensureBrowser } from "./chromium/ensure-browser.mjs";
import { endCommandsOnSignal } from "./command.mjs";
import { ensureDatabase } from "./ensure-database.mjs";
import { findNode } from "./find-node.mjs";
import { ensureInstalled } from "./install.mjs";
import { SetupError } from "./setup-error.mjs";

const usage = `Usage: node lib/setup/run.mjs <command>

  start                                  run the service
  browser-host                           run the browsers of services on other machines
  dev                                    run the service with hot reload
  test [--unit | --e2e] [filter …]       run checks and tests; with --grep: tests by name; with --watch: again after changes
  bench [option …]                       run the benchmarks
  eval [option …]                        play tasks on pages with the configured model
  faults [option …]                      run the fault campaign
  variants [option …]                    play every kind of change in every framework; with --defects: what the check finds
  keys <command>                         manage API keys
  login                                  print a login link for the landing page
  project-schema <file …>                show the projection of JSON Schemas
  backup [file]                          back up the data folder
  restore <file> [--replace]             restore a backup
  export <sessionId> [option …]          write a session to a file
  import <file> --session <sessionId>    import a file into a session
  vercel-snapshot [option …]             make the snapshot from which machines of Vercel Sandbox start
  setup                                  install packages and a browser, and build
  client                                 build the API client
  runtime                                build the script that applies variants`;

/** Commands that `run` carries out itself. The commands in `tools` only run a script. */
const commands = [
  ...["start", "dev", "test", "bench", "eval", "faults", "variants"],
  ...["browser-host", "setup", "client", "runtime"],
];

/** Commands that need only the installed packages, each with its script and first arguments. */
const tools = new Map([
  ["keys", ["lib/commands/keys/main.ts"]],
  ["login", ["lib/commands/login/main.ts"]],
  ["project-schema", ["lib/deliverable/project-schema/main.ts"]],
  ["backup", ["lib/commands/backup/main.ts", "backup"]],
  ["restore", ["lib/commands/backup/main.ts", "restore"]],
  ["export", ["lib/commands/porting/main.ts", "export"]],
  ["import", ["lib/commands/porting/main.ts", "import"]],
  ["vercel-snapshot", ["lib/commands/vercel-snapshot/main.ts"]],
]);

/**
 * @param {string | undefined} command
 * @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
async function run(command, args) {
  if (command === undefined || ![...commands, ...tools.keys()].includes(command)) {
    console.error(usage);
    return 1;
  }
  process.chdir(fileURLToPath(new URL("../..", import.meta.url)));
  // Tests, the bench and the fault campaign must not depend on the developer's .env, so they do not load it.
  if (command === "browser-host") loadHostEnvironment();
  else if (!["test", "bench", "faults"].includes(command) && existsSync(".env")) process.loadEnvFile(".env");
  const stopListening = endCommandsOnSignal();
  await ensureInstalled();
  const node = await findNode();
  if (command === "client") {
    const { buildClient, buildDemoClient, clientFolder, makeClientTypes } = await import(
      "./build-client.mjs"
    );
    await makeClientTypes(node);
    await buildClient(node);
    await buildDemoClient();
    console.log(
      `Built the client in ${clientFolder}. Install it in a project with \`npm install <path to this folder>\`.`,
    );
    return 0;
  }
  if (command === "runtime") {
    const { buildRuntime, runtimeFile } = await import("./build-runtime.mjs");
    await buildRuntime();
    console.log(`Built the runtime of variants in ${runtimeFile}.`);
    return 0;
  }
  if (command === "test" || command === "vercel-snapshot") await ensureBoxProgram();
  const tool = tools.get(command);
  if (tool !== undefined) {
    const { runCommand } = await import("./command.mjs");
    const script = ["--disable-warning=ExperimentalWarning", ...tool, ...args];
    return (await runCommand(node, script, { inherit: true })).exitCode;
  }
  await ensureInjected();
  const chromium = await ensureBrowser(node, command === "setup");
  const browserEnv =
    chromium === null ? {} : { BROWSER_EXECUTABLE_PATH: chromium.executablePath, ...chromium.env };
  if (command === "browser-host") {
    const { serve } = await import("./serve.mjs");
    stopListening();
    return serve(node, "production", { program: "lib/commands/browser-host/main.ts", name: "browser host" });
  }
  await ensureDatabase(node);
  if (command === "test") {
    const { runTests } = await import("./tests/run-tests.mjs");
    return runTests(node, args, browserEnv);
  }
  if (command === "eval" && args.includes("--functions")) {
    await ensureBoxProgram();
    await ensureBuilt(node);
  }
  if (command === "eval" || command === "variants") {
    const { runCommand } = await import("./command.mjs");
    const folder = args.includes("--defects") ? `${command}/defects` : command;
    const script = ["--disable-warning=ExperimentalWarning", `e2e/${folder}/main.ts`, ...args];
    return (await runCommand(node, script, { inherit: true, env: browserEnv })).exitCode;
  }
  if (command !== "dev") await ensureBuilt(node);
  if (command === "setup") {
    console.log("Set-up is complete. Run `npm start` to start the service.");
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

/**
 * Loads the settings of a browser host from `.env`, and removes secrets of the service from the environment: pages and
 * scripts of the agent run on the host's machine.
 */
function loadHostEnvironment() {
  const file = existsSync(".env") ? parseEnv(readFileSync(".env", "utf8")) : {};
  for (const [name, value] of Object.entries(file))
    if (/^(BROWSER_\w+|DATA_DIR|SANDBOX)$/.test(name)) process.env[name] ??= value;
  const secrets = /^(OPENAI_API_KEY|AI_GATEWAY_API_KEY|SERVICE_API_KEYS|OIDC_CLIENT_SECRET|INNGEST_\w+_KEY)$/;
  for (const name of Object.keys(process.env)) if (secrets.test(name)) delete process.env[name];
}

try {
  process.exitCode = await run(process.argv[2], process.argv.slice(3));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  if (error.details !== "") console.error(`\n${error.details.trimEnd()}\n`);
  console.error(error.message);
  process.exitCode = 1;
}
