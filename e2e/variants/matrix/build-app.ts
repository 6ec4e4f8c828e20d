import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { MatrixApp } from "./matrix-app.ts";

/** Outside the repository, so that an app never finds the product's packages. */
const CACHE = join(tmpdir(), "variants-matrix");
const OUTPUT_CHARACTERS_MAX = 4_000;

/** The environment of a program that builds or serves an app. */
export const APP_ENV = {
  ...process.env,
  // The service's Node.js starts the programs of packages, whatever the caller's Node.js is.
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  NODE_ENV: "production" as const,
  ASTRO_TELEMETRY_DISABLED: "1",
  NEXT_TELEMETRY_DISABLED: "1",
  NG_CLI_ANALYTICS: "false",
  NUXT_TELEMETRY_DISABLED: "1",
  CI: "1",
};

/** What an app is built from. */
export type AppSources = Pick<MatrixApp, "name" | "packages" | "files" | "commands">;

/** Runs a program in a folder. @throws Error with the end of its output if it fails. */
async function run(folder: string, program: string, args: string[]): Promise<void> {
  const child = spawn(program, args, { cwd: folder, env: APP_ENV, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output = (output + String(chunk)).slice(-OUTPUT_CHARACTERS_MAX);
    });
  const [exitCode] = await once(child, "close");
  if (exitCode !== 0) throw new Error(`${program} ${args.join(" ")} failed:\n${output}`);
}

/**
 * Installs the packages of an app from npm and builds it, in a folder that belongs to exactly these packages, files and
 * commands. An app that was built before is not built again.
 *
 * @returns the app's folder
 */
export async function buildApp(app: AppSources, log: (text: string) => void): Promise<string> {
  const { packages, files, commands = [] } = app;
  const hash = createHash("sha256").update(JSON.stringify({ packages, files, commands })).digest("hex");
  const folder = join(CACHE, `${app.name.toLowerCase().replace(/\W+/g, "-")}-${hash.slice(0, 12)}`);
  const isBuilt = join(folder, "built");
  if (existsSync(isBuilt)) return folder;
  await rm(folder, { recursive: true, force: true });
  const manifest = { name: "app", private: true, type: "module", dependencies: packages };
  for (const [path, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  log(`${app.name}: installing`);
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps"];
  if (Object.keys(packages).length > 0) await run(folder, "npm", ["install", ...flags]);
  for (const command of commands) {
    log(`${app.name}: ${command.join(" ")}`);
    await run(folder, process.execPath, command);
  }
  await writeFile(isBuilt, "");
  return folder;
}

/** Reads a file of a package that is installed in the app's folder. */
export const readPackageFile = (folder: string, path: string): Promise<string> =>
  readFile(join(folder, "node_modules", path), "utf8");
