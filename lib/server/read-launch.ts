import type { MachineSettings } from "#lib/browser/host/host-parts.ts";
import { readSetup } from "#lib/setup/read-setup.ts";
import type { Env } from "./env.ts";

/** Chooses the browser: a remote one, a configured executable, or the Chromium that the setup found. */
export function readLaunch(env: Pick<Env, "BROWSER_CDP_URL" | "BROWSER_EXECUTABLE_PATH" | "DATA_DIR">) {
  if (env.BROWSER_CDP_URL) return { cdpUrl: env.BROWSER_CDP_URL };
  if (env.BROWSER_EXECUTABLE_PATH) return { executablePath: env.BROWSER_EXECUTABLE_PATH };
  const { chromium } = readSetup(env.DATA_DIR);
  if (!chromium) return {};
  const { executablePath, args, env: variables } = chromium;
  return { executablePath, ...(args && { args }), ...(variables && { env: variables }) };
}

/** Reads how many sessions share a Chromium, and what a page may take. */
export const readChromiumLimits = (
  env: Pick<Env, "BROWSER_CONTEXTS_PER_PROCESS" | "BROWSER_PAGE_MEMORY_MB">,
): Pick<MachineSettings, "contextsPerProcess" | "pageLimits"> => ({
  contextsPerProcess: env.BROWSER_CONTEXTS_PER_PROCESS,
  pageLimits: { memoryBytes: env.BROWSER_PAGE_MEMORY_MB * 2 ** 20 },
});
