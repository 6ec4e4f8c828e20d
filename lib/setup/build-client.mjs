/** The work of `npm run build:client`: builds the API client as a package of JavaScript and type declarations. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./command.mjs";
import { SetupError } from "./setup-error.mjs";

/** The folder in which the client is built, relative to the project. */
export const clientFolder = ".client";

/**
 * Regenerates the client's types from the API contract.
 * @param {string} node executable of Node 24
 * @throws {SetupError}
 */
export const makeClientTypes = (node) =>
  runStep(node, [
    "--disable-warning=ExperimentalWarning",
    "lib/api/openapi/client-types/write-client-types.ts",
  ]);

/**
 * Compiles the client.
 * @param {string} node executable of Node 24
 * @param {string} [folder] output folder
 * @throws {SetupError} if compilation fails, with the compiler's output
 */
export async function buildClient(node, folder = clientFolder) {
  rmSync(folder, { recursive: true, force: true });
  const compiler = "node_modules/typescript/bin/tsc";
  await runStep(node, [compiler, "-p", "lib/client/tsconfig.json", "--outDir", folder]);
  nameCompiledFiles(folder);
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const description = "Client of Agent Session Service, for Node 20 and newer and for browsers.";
  const entry = "./index";
  const manifest = {
    name: "agent-session-client",
    version,
    description,
    type: "module",
    sideEffects: false,
    engines: { node: ">=20" },
    main: `${entry}.js`,
    types: `${entry}.d.ts`,
    exports: {
      ".": { types: `${entry}.d.ts`, default: `${entry}.js` },
      // For pages without a bundler, which would load the whole client otherwise.
      "./mount-session": { types: "./mount-session.d.ts", default: "./mount-session.js" },
    },
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The part of the client that the demo host page loads. It is committed, as the other files of the demo. */
export const demoClientFile = "public/demo/embed/mount-session.js";

/**
 * Bundles the part of the client that shows a session in a frame.
 * @returns {Promise<string>} a module in JavaScript
 */
export async function bundleDemoClient() {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: ["lib/client/mount-session.ts"],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    write: false,
  });
  return outputFiles.map(({ text }) => text).join("");
}

/** Bundles {@link bundleDemoClient} and writes the output file. */
export const buildDemoClient = async () => writeFileSync(demoClientFile, await bundleDemoClient());

/**
 * @param {string} node
 * @param {string[]} args
 */
async function runStep(node, args) {
  const result = await runCommand(node, args);
  if (!result.ok) throw new SetupError("Building the client failed. See the output above.", result.output);
}

/**
 * Rewrites imports of `.ts` files in type declarations to `.js`. The compiler does this only in JavaScript files.
 * @param {string} folder
 */
function nameCompiledFiles(folder) {
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".d.ts")) continue;
    const path = join(folder, file);
    writeFileSync(path, readFileSync(path, "utf8").replace(/(from "\.[^"]*)\.ts"/g, '$1.js"'));
  }
}
