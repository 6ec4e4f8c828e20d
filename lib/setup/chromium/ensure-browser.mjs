/**
 * Step 3 of the setup: provides a working Chromium with fonts, and bubblewrap for the sandbox. The result is stored in
 * the data folder. The last result is also stored in this clone, so that another data folder needs no search.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { showStep } from "../progress.mjs";
import { listFiles, readStamp, writeStamp } from "../stamp.mjs";
import { listChromiums, pickChromium } from "./find-chromium.mjs";
import {
  canInstallSystemPackages,
  installChromium,
  installSystemPackages,
  isOnPath,
} from "./install-chromium.mjs";

/** @typedef {import("./find-chromium.mjs").Chromium} Chromium */
/**
 * @typedef {object} SetupResult
 * @property {Chromium | null} chromium
 * @property {boolean} hasTriedInstalling
 * @property {string} searchedAt ISO 8601
 */

const CLONE_RESULT = "node_modules/.cache/agent-session-service/setup.json";

/**
 * Finds or installs what the browser and the sandbox need. The service can run without them, so a failure is only
 * printed.
 * @param {string} node executable of Node 24
 * @param {boolean} isForced whether to search and install again, even if an earlier run has already done so
 * @returns {Promise<Chromium | null>}
 */
export async function ensureBrowser(node, isForced) {
  const dataDir = resolve(process.env.DATA_DIR || ".data");
  const path = join(dataDir, "setup.json");
  const last = /** @type {SetupResult | undefined} */ (readStamp(path));
  const current = [last, /** @type {SetupResult | undefined} */ (readStamp(CLONE_RESULT))].find(
    (result) => result !== undefined && isCurrent(result),
  );
  if (!isForced && current !== undefined) {
    if (current !== last) writeStamp(path, current);
    return current.chromium;
  }
  const isRemote = Boolean(process.env.BROWSER_CDP_URL);
  const mayInstall = isForced || last?.hasTriedInstalling !== true;
  const chromium = isRemote ? null : await findOrInstall(node, dataDir, mayInstall);
  if (isForced || last === undefined) await installCompanions();
  const hasTriedInstalling = last?.hasTriedInstalling === true || (!isRemote && mayInstall);
  const result = { chromium, hasTriedInstalling, searchedAt: new Date().toISOString() };
  writeStamp(path, result);
  try {
    writeStamp(CLONE_RESULT, result);
  } catch (error) {
    // An installation can be read-only. Only the first start with a new data folder takes longer then.
    if (!["EACCES", "EROFS"].includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? "")) throw error;
  }
  return chromium;
}

/** @param {SetupResult} last */
function isCurrent(last) {
  const chosen = process.env.BROWSER_EXECUTABLE_PATH || undefined;
  if (process.env.BROWSER_CDP_URL) return true;
  if (last.chromium === null) return false;
  // A path that came from the environment is current only while the environment contains the same path.
  const isChosen = last.chromium.source === "environment";
  if (chosen === undefined ? isChosen : !isChosen || last.chromium.executablePath !== resolve(chosen))
    return false;
  return existsSync(last.chromium.executablePath);
}

/**
 * @param {string} node
 * @param {string} dataDir
 * @param {boolean} mayInstall whether to try to install Chromium. True on the first start and on `npm run setup`. False
 *   on later starts, so that they are fast without a network
 * @returns {Promise<Chromium | null>}
 */
async function findOrInstall(node, dataDir, mayInstall) {
  const chosen = process.env.BROWSER_EXECUTABLE_PATH || undefined;
  if (chosen !== undefined) {
    const chromium = await pickChromium(node, [{ executablePath: resolve(chosen), source: "environment" }]);
    if (chromium === undefined)
      console.log(`! BROWSER_EXECUTABLE_PATH (${chosen}) is not a working Chromium.`);
    return chromium ?? null;
  }
  const present = listChromiums();
  if (present.length === 0 && !mayInstall) return reportMissing();
  const chromium = await showStep("Finding Chromium", async (showDetail) => {
    const found = await pickChromium(node, present);
    if (found !== undefined || !mayInstall) return found ?? null;
    return (await installChromium(node, dataDir, showDetail)) ?? null;
  });
  return chromium ?? reportMissing();
}

/** @returns {null} */
function reportMissing() {
  console.log(
    "! No Chromium found: sessions will run without a browser. Install one (`npx playwright install --with-deps chromium-headless-shell`, " +
      "or your distribution's chromium package), or set BROWSER_EXECUTABLE_PATH or BROWSER_CDP_URL. Then run `npm run setup`.",
  );
  return null;
}

/** Installs bubblewrap for the sandbox and fonts for the browser if they are missing and the system allows it. */
async function installCompanions() {
  if (process.platform !== "linux") return;
  const wanted = [
    ...(isOnPath("bwrap") ? [] : ["bubblewrap"]),
    // A minimal Debian has no fonts. These two font packages take 3 MB and cover Latin, Greek and Cyrillic.
    ...(listFiles("/usr/share/fonts").length > 0 ? [] : ["fonts-dejavu-core", "fonts-liberation"]),
  ];
  if (wanted.length === 0) return;
  if (canInstallSystemPackages()) {
    await showStep(`Installing ${wanted.join(", ")}`, (showDetail) =>
      installSystemPackages(wanted, showDetail),
    );
  }
  if (!isOnPath("bwrap")) {
    console.log(
      "! bubblewrap is not installed: agents cannot run shell commands without it (`apt-get install bubblewrap`).",
    );
  }
}
