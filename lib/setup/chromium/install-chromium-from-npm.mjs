/**
 * Installs Chromium from the npm package `@sparticuz/chromium`, which is built for AWS Lambda. This works on Linux
 * distributions without a Chromium package.
 */
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand } from "../command.mjs";
import { runNpm } from "../install.mjs";
import { warnFailure } from "../progress.mjs";
import { pickChromium } from "./find-chromium.mjs";

const DOWNLOAD_TIMEOUT_MS = 300_000;
/** The folder with the lockfile of the package, which contains the checksums of everything that is installed. */
const LOCKED = fileURLToPath(new URL("./sparticuz/", import.meta.url));

/**
 * Installs the package, and unpacks Chromium into the data folder instead of the package's default, a temporary folder.
 * @param {string} node
 * @param {string} dataDir
 * @param {import("../progress.mjs").ShowDetail} showDetail
 * @returns {Promise<import("./find-chromium.mjs").Chromium | undefined>}
 */
export async function installFromNpm(node, dataDir, showDetail) {
  if (process.platform !== "linux") return undefined;
  showDetail("from npm: @sparticuz/chromium");
  const folder = resolve(dataDir, "chromium");
  mkdirSync(folder, { recursive: true });
  for (const file of ["package.json", "package-lock.json"])
    copyFileSync(join(LOCKED, file), join(folder, file));
  const flags = ["--no-audit", "--no-fund", "--loglevel=error", "--global=false"];
  const installed = await runNpm(["ci", "--prefix", folder, ...flags], { timeoutMs: DOWNLOAD_TIMEOUT_MS });
  if (!installed.ok) {
    warnFailure("Installing @sparticuz/chromium from npm failed", installed);
    return undefined;
  }
  const unpacked = join(folder, "unpacked");
  // Tries Chromium with the system's libraries first, then with the libraries that the package includes for AWS Lambda.
  for (const lambda of [{}, { AWS_EXECUTION_ENV: "AWS_Lambda_nodejs22.x" }]) {
    rmSync(unpacked, { recursive: true, force: true });
    const candidate = await unpackChromium(node, folder, unpacked, lambda);
    const chromium = candidate && (await pickChromium(node, [candidate]));
    if (chromium !== undefined) return chromium;
  }
  return undefined;
}

// The script does not use the package's default flags, because they run Chromium in a single process and turn off web
// security.
const unpackScript = `
  const { default: chromium } = await import("@sparticuz/chromium");
  const executablePath = await chromium.executablePath();
  console.log(JSON.stringify({ executablePath, libraries: process.env.LD_LIBRARY_PATH ?? null }));`;

/**
 * @param {string} node
 * @param {string} folder the folder that contains the package
 * @param {string} unpacked output folder, which is created
 * @param {import("../command.mjs").Environment} lambda additional environment variables
 * @returns {Promise<import("./find-chromium.mjs").Candidate | undefined>}
 */
async function unpackChromium(node, folder, unpacked, lambda) {
  mkdirSync(unpacked, { recursive: true });
  const result = await runCommand(node, ["--input-type=module", "--eval", unpackScript], {
    cwd: folder,
    timeoutMs: 60_000,
    env: { ...lambda, TMPDIR: unpacked },
  });
  const line = result.output.split("\n").find((text) => text.startsWith("{"));
  if (!result.ok || line === undefined) return undefined;
  const { executablePath, libraries } = JSON.parse(line);
  // Makes the file executable for all users. The package does so only for the owner, but the browser may run as another
  // user.
  chmodSync(executablePath, 0o755);
  // Replaces the included font list, which names folders of AWS Lambda. Without fonts, text is invisible.
  const fontList = join(unpacked, "fonts.conf");
  writeFileSync(
    fontList,
    describeFonts(["/usr/share/fonts", "/usr/local/share/fonts", join(unpacked, "fonts")], unpacked),
  );
  return {
    executablePath,
    source: "package",
    env: { FONTCONFIG_FILE: fontList, ...(libraries === null ? {} : { LD_LIBRARY_PATH: libraries }) },
  };
}

/**
 * @param {string[]} folders
 * @param {string} unpacked
 */
function describeFonts(folders, unpacked) {
  const lines = folders.map((folder) => `  <dir>${folder}</dir>`);
  return `<?xml version="1.0"?>\n<fontconfig>\n${lines.join("\n")}\n  <cachedir>${join(unpacked, "fonts-cache")}</cachedir>\n</fontconfig>\n`;
}
