import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { HostStart } from "#lib/browser-host/host/run-host.ts";
import { newHostId } from "#lib/browser-host/host-id.ts";
import { EnvError, readEnv } from "#lib/server/env.ts";
import { readChromiumLimits, readLaunch } from "#lib/server/read-launch.ts";
import { errorText } from "#lib/text/error-text.ts";

/** The variables that a browser host reads. */
const VARIABLES = [
  "BROWSER_CDP_URL",
  "BROWSER_CONTEXTS_PER_PROCESS",
  "BROWSER_EXECUTABLE_PATH",
  "BROWSER_HOST_CERT",
  "BROWSER_HOST_KEY",
  "BROWSER_HOST_LINGER_MS",
  "BROWSER_HOST_LISTEN",
  "BROWSER_HOST_TOKEN",
  "BROWSER_MAX_LIVE",
  "BROWSER_PAGE_MEMORY_MB",
  "DATA_DIR",
  "SANDBOX",
];

/** What a host must not have: pages and scripts of the agent run on its machine. */
const REFUSED = ["DATABASE_URL", "ENCRYPTION_KEY", "ENCRYPTION_KEY_PREVIOUS"];

/**
 * Reads the settings of `npm run browser-host` from the environment.
 *
 * @throws EnvError if a variable is invalid or missing, or must not be set.
 */
export async function readHostSettings(source: Record<string, string | undefined>): Promise<HostStart> {
  const refused = REFUSED.find((name) => source[name]);
  if (refused)
    throw new EnvError(`${refused}: must not be set for a browser host, because pages and scripts run there`);
  const env = readEnv(Object.fromEntries(VARIABLES.map((name) => [name, source[name]])));
  const { BROWSER_HOST_TOKEN: token, BROWSER_HOST_CERT: cert, BROWSER_HOST_KEY: key } = env;
  if (token === undefined)
    throw new EnvError("BROWSER_HOST_TOKEN: is required; set the same for the service");
  if ((cert === undefined) !== (key === undefined))
    throw new EnvError("BROWSER_HOST_CERT: needs BROWSER_HOST_KEY, and the other way round");
  return {
    id: newHostId(),
    token,
    listen: readAddress(env.BROWSER_HOST_LISTEN),
    ...(cert !== undefined && key !== undefined && { tls: await readTls({ cert, key }) }),
    launch: readLaunch(env),
    dataDir: env.DATA_DIR,
    maxLive: env.BROWSER_MAX_LIVE,
    ...readChromiumLimits(env),
    lingerMs: env.BROWSER_HOST_LINGER_MS,
    leaseKeptMs: env.BROWSER_HOST_LINGER_MS,
    isUnconfinedAllowed: env.SANDBOX === "unconfined",
    isWarm: true,
    isRemote: true,
  };
}

function readAddress(text: string): HostStart["listen"] {
  const [, host = "", port] = /^\[?(.*?)\]?:(\d+)$/.exec(text) ?? [];
  return { host, port: Number(port) };
}

/** @throws EnvError if a file cannot be read, or if they are not a certificate and its key. */
async function readTls(paths: { cert: string; key: string }) {
  const [cert, key] = await Promise.all([
    readSettingFile("BROWSER_HOST_CERT", paths.cert),
    readSettingFile("BROWSER_HOST_KEY", paths.key),
  ]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new EnvError(
      `BROWSER_HOST_CERT, BROWSER_HOST_KEY: must be a certificate and its private key in PEM: ${errorText(error)}`,
    );
  }
  return { cert, key };
}

async function readSettingFile(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new EnvError(`${name}: ${path} cannot be read: ${errorText(error)}`);
  }
}
