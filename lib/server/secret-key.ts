import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Env } from "./env.ts";
import { readOrCreateSecrets } from "./prepare-data-folder.ts";

/** Whether the settings or the data folder contain the deployment's secret key. */
export const hasSecretKey = (env: Env): boolean =>
  env.ENCRYPTION_KEY !== undefined || existsSync(join(env.DATA_DIR, "encryption-key"));

/**
 * Reads the secret key of the service that has these settings, for a command-line tool. Does not generate a key,
 * because the service would not accept data that was signed or sealed with a new key.
 *
 * @throws Error with a message for the user if there is no key.
 */
export async function readSecretKey(env: Env): Promise<Uint8Array> {
  if (env.ENCRYPTION_KEY) return env.ENCRYPTION_KEY;
  if (!hasSecretKey(env))
    throw new Error(
      `there is no encryption-key in ${env.DATA_DIR}: run this command with the service's DATA_DIR, after its first start, or with its ENCRYPTION_KEY`,
    );
  return (await readOrCreateSecrets(env.DATA_DIR)).encryptionKey;
}
