/** Finds installed Chromium executables and checks that they work. */
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../command.mjs";

/**
 * @typedef {object} Chromium
 * @property {string} executablePath absolute
 * @property {string} source where it was found: "environment", "playwright", "system" or "package"
 * @property {string} version for example "156.0.8078.79"
 * @property {string[]} [args] flags that Chromium needs to start on this machine
 * @property {Record<string, string>} [env] environment variables that Chromium needs to start on this machine
 */
/** @typedef {Pick<Chromium, "executablePath" | "source" | "args" | "env">} Candidate */

const launchTimeoutMs = 20_000;

/**
 * Lists the existing executables in order of preference: those in Playwright's cache (headless shells first), then
 * those of the system.
 * @returns {Candidate[]}
 */
export function listChromiums() {
  return [
    ...listPlaywrightChromiums().map((executablePath) => ({ executablePath, source: "playwright" })),
    ...systemPaths().map((executablePath) => ({ executablePath, source: "system" })),
  ].filter(({ executablePath }) => existsSync(executablePath));
}

/**
 * Returns the first candidate that renders a page.
 * @param {string} node executable of Node 24
 * @param {Candidate[]} candidates
 * @returns {Promise<Chromium | undefined>}
 */
export async function pickChromium(node, candidates) {
  for (const candidate of candidates) {
    const version = await tryChromium(node, candidate);
    if (version !== undefined) return { ...candidate, version };
  }
  return undefined;
}

// The script launches Chromium with Playwright, as the service does, because not every build supports --version or
// --dump-dom. It also checks that text has a width, because without fonts text has no width.
const launchScript = `
  const { chromium } = await import("playwright");
  const { executablePath, args = [], env = {}, timeout } = JSON.parse(process.env.CANDIDATE);
  const options = { executablePath, args, env: { ...process.env, ...env }, chromiumSandbox: false, timeout };
  const browser = await chromium.launch(options);
  const page = await browser.newPage();
  await page.setContent("<span>ordinary text</span>");
  const width = await page.locator("span").evaluate((span) => span.offsetWidth);
  if (width > 0) console.log(JSON.stringify({ version: browser.version() }));
  await browser.close();`;

/**
 * Starts Chromium once and loads a page of our own. The page is trusted, so Chromium's sandbox can be off.
 * @param {string} node
 * @param {Candidate} candidate
 * @returns {Promise<string | undefined>} the version of Chromium, or undefined if it does not work
 */
async function tryChromium(node, candidate) {
  const result = await runCommand(node, ["--input-type=module", "--eval", launchScript], {
    timeoutMs: launchTimeoutMs + 5_000,
    env: { CANDIDATE: JSON.stringify({ ...candidate, timeout: launchTimeoutMs }) },
  });
  return /^\{"version":"([\d.]+)"\}$/m.exec(result.output)?.[1];
}

function listPlaywrightChromiums() {
  const cache = playwrightCache();
  if (!existsSync(cache)) return [];
  const builds = readdirSync(cache)
    .map((name) => ({ name, ...parseBuild(name) }))
    .filter((build) => build.revision > 0)
    .sort((a, b) => Number(b.isShell) - Number(a.isShell) || b.revision - a.revision);
  return builds.flatMap(({ name }) => findExecutables(join(cache, name), 5));
}

/** @param {string} name a folder name such as "chromium_headless_shell-1234" or "chromium-1234" */
function parseBuild(name) {
  const match = /^chromium(_headless_shell)?-(\d+)$/.exec(name);
  return { isShell: match?.[1] !== undefined, revision: Number(match?.[2] ?? 0) };
}

function playwrightCache() {
  const chosen = process.env.PLAYWRIGHT_BROWSERS_PATH;
  if (chosen !== undefined && chosen !== "" && chosen !== "0") return chosen;
  if (process.platform === "darwin") return join(homedir(), "Library", "Caches", "ms-playwright");
  if (process.platform === "win32") return join(process.env.LOCALAPPDATA ?? homedir(), "ms-playwright");
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "ms-playwright");
}

const executableNames = new Set([
  "chrome-headless-shell",
  "headless_shell",
  "chrome",
  "Chromium",
  "Google Chrome for Testing",
  "chrome-headless-shell.exe",
  "headless_shell.exe",
  "chrome.exe",
]);

/**
 * @param {string} folder
 * @param {number} depthMax
 * @returns {string[]}
 */
function findExecutables(folder, depthMax) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depthMax > 0 ? findExecutables(path, depthMax - 1) : [];
    return executableNames.has(entry.name) ? [path] : [];
  });
}

function systemPaths() {
  if (process.platform === "darwin") {
    const names = ["Google Chrome", "Chromium", "Google Chrome Canary", "Microsoft Edge"];
    return names.map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
  }
  if (process.platform === "win32") {
    const roots = [process.env.PROGRAMFILES, process.env["PROGRAMFILES(X86)"], process.env.LOCALAPPDATA];
    const programs = ["Google\\Chrome\\Application\\chrome.exe", "Chromium\\Application\\chrome.exe"];
    return roots.flatMap((root) =>
      root === undefined ? [] : programs.map((program) => `${root}\\${program}`),
    );
  }
  // Lists the wrapper scripts in /usr/bin last, because the browser can outlive a wrapper that is killed.
  return [
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/headless_shell",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/opt/google/chrome-for-testing/chrome",
    "/usr/bin/google-chrome",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/snap/bin/chromium",
  ];
}
