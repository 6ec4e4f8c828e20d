import { existsSync } from "node:fs";
import { join } from "node:path";
import { createLoginGate, SIGNED_TOKEN_MINUTES } from "#lib/api/auth/login-gate.ts";
import { type Env, EnvError, readEnv } from "#lib/server/env.ts";
import { keepSecrets } from "#lib/server/prepare-data-folder.ts";

/** `npm run login`: prints a new login link for the landing page. It is signed with the service's secret key. */
async function main(): Promise<void> {
  const env = readEnv(process.env);
  const key = await readSecretKey(env);
  const link = `${env.baseUrl}/login?token=${createLoginGate(key, false).signToken()}`;
  console.log(
    `Open this link in a browser within ${SIGNED_TOKEN_MINUTES} minutes. It works once:\n\n${link}`,
  );
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

main().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  console.error(error instanceof EnvError ? message : `No login link: ${message}`);
  process.exitCode = 1;
});
