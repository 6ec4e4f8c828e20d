import { createLoginTokens, SIGNED_TOKEN_MINUTES } from "#lib/logins/login-tokens.ts";
import type { Env } from "#lib/server/env.ts";
import { readSecretKey } from "#lib/server/secret-key.ts";

/** Returns a text with a new login link for the landing page. The link is signed with the service's secret key. */
export async function printLoginLink(env: Env): Promise<string> {
  const token = createLoginTokens(await readSecretKey(env)).signToken();
  return `Open this link in a browser and press Sign in within ${SIGNED_TOKEN_MINUTES} minutes. It signs in once:\n\n${env.baseUrl}/login?token=${token}`;
}
