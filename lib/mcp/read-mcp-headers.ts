import { and, eq } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { sealedSecrets } from "#db/schema/index.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import { nameMcpHeaders, placeSecret } from "#lib/session/session-secret.ts";
import { McpFailure } from "./mcp-error.ts";

/**
 * Opens the headers of one of a session's tool servers; there may be none.
 *
 * @throws McpFailure where they were sealed with another key.
 */
export async function readMcpHeaders(
  deps: { db: Database; sealer: Sealer },
  sessionId: string,
  serverId: string,
): Promise<Record<string, string>> {
  const name = nameMcpHeaders(serverId);
  const [row] = await deps.db
    .select({ sealed: sealedSecrets.sealed })
    .from(sealedSecrets)
    .where(and(eq(sealedSecrets.sessionId, sessionId), eq(sealedSecrets.name, name)));
  if (!row) return {};
  try {
    // We sealed it ourselves, from what the contract had let in.
    return JSON.parse(deps.sealer.open(placeSecret(sessionId, name), row.sealed)) as Record<string, string>;
  } catch {
    throw new McpFailure("its headers cannot be read with this ENCRYPTION_KEY");
  }
}
