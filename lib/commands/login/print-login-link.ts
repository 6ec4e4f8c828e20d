import { existsSync } from "node:fs";
import { join } from "node:path";
import { createLoginTokens, SIGNED_TOKEN_MINUTES } from "#lib/logins/login-tokens.ts";
import type { Env } from "#lib/server/env.ts";
import { keepSecrets } from "#lib/server/prepare-data-folder.ts";

/** The text with a new login link for the landing page. The link is signed with the service's secret key. */
export async function printLoginLink(env: Env): Promise<string> {
  const token = createLoginTokens(await readSecretKey(env)).signToken();
  return `Open this link in a browser within ${SIGNED_TOKEN_MINUTES} minutes. It works once:\n\n${env.baseUrl}/login?token=${token}`;
}

/** Reads the secret key of the service with these settings. @throws Error if the data folder has no key. */
async function readSecretKey(env: Env): Promise<Uint8Array> {
  if (env.ENCRYPTION_KEY) return env.ENCRYPTION_KEY;
  // A newly generated key would sign links that no service accepts.
  if (!existsSync(join(env.DATA_DIR, "encryption-key")))
    throw new Error(
      `there is no encryption-key in ${env.DATA_DIR}: run this command with the service's DATA_DIR, after its first start, or with its ENCRYPTION_KEY`,
    );
  return (await keepSecrets(env.DATA_DIR)).encryptionKey;
}
