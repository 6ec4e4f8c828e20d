/** Where a Chromium may already stand on this machine, and whether one really starts. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "./command.mjs";

/**
 * @typedef {object} Chromium
 * @property {string} executablePath absolute
 * @property {string} source "environment", "playwright", "system" or "package"
 * @property {string} [version] "156.0.8078.79"
 * @property {string[]} [args] flags it needs to start here
 * @property {Record<string, string>} [env] variables it needs to start here
 */
/** @typedef {Pick<Chromium, "executablePath" | "source" | "args" | "env">} Candidate */

const launchTimeoutMs = 20_000;

/**
 * The existing executables in the order of preference: Playwright's cache before the system's, headless shells first.
 * @returns {Candidate[]}
 */
export function listChromiums() {
  return [
    ...listPlaywrightChromiums().map((executablePath) => ({ executablePath, source: "playwright" })),
    ...systemPaths().map((executablePath) => ({ executablePath, source: "system" })),
  ].filter(({ executablePath }) => existsSync(executablePath));
}

/**
 * The first candidate that loads an empty page.
 * @param {Candidate[]} candidates
 * @returns {Promise<Chromium | undefined>}
 */
export async function pickChromium(candidates) {
  for (const candidate of candidates) {
    const chromium = await tryChromium(candidate);
    if (chromium !== undefined) return chromium;
  }
  return undefined;
}

/**
 * Starts a Chromium once on an empty page.
 * @param {Candidate} candidate
 * @returns {Promise<Chromium | undefined>} with its version, or undefined when it does not work
 */
export async function tryChromium(candidate) {
  const profile = mkdtempSync(join(tmpdir(), "agent-session-chromium-"));
  try {
    const result = await runCommand(
      candidate.executablePath,
      [
        ...(candidate.args ?? []),
        "--headless",
        // Chromium refuses to run its sandbox as root; this run loads nothing but an empty page.
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
        "--disable-gpu",
        "--no-first-run",
        `--user-data-dir=${profile}`,
        "--dump-dom",
        "about:blank",
      ],
      { timeoutMs: launchTimeoutMs, env: candidate.env ?? {} },
    );
    if (!result.output.includes("<body>")) return undefined;
    const version = await readVersion(candidate);
    return version === undefined ? candidate : { ...candidate, version };
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** @param {Candidate} candidate */
async function readVersion(candidate) {
  // On Windows `--version` opens a window instead.
  if (process.platform === "win32") return undefined;
  const answer = await runCommand(candidate.executablePath, ["--version"], {
    timeoutMs: 5_000,
    env: candidate.env ?? {},
  });
  return /(\d+\.\d+\.\d+\.\d+)/.exec(answer.output)?.[1];
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

/** @param {string} name "chromium_headless_shell-1234" or "chromium-1234" */
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
  // The real programs before the wrappers in /usr/bin: a wrapper that does not exec leaves its browser behind.
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
