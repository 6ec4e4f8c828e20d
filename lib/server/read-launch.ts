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
