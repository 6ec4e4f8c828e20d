import type { Database } from "#db/client.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import { nameMcpHeaders, placeSecret } from "#lib/session/session-secret.ts";
import { McpFailure } from "./mcp-error.ts";
import { findSealedSecret } from "./store.ts";

/**
 * Opens the headers of one of a session's tool servers; there may be none.
 *
 * @throws McpFailure where they were sealed with another key.
 */
export async function readMcpHeaders(
  { db, sealer }: { db: Database; sealer: Sealer },
  sessionId: string,
  serverId: string,
): Promise<Record<string, string>> {
  const name = nameMcpHeaders(serverId);
  const sealed = await findSealedSecret(db, sessionId, name);
  if (sealed === undefined) return {};
  try {
    // We sealed it ourselves, from what the contract had let in.
    return JSON.parse(sealer.open(placeSecret(sessionId, name), sealed)) as Record<string, string>;
  } catch {
    throw new McpFailure("its headers cannot be read with this ENCRYPTION_KEY");
  }
}
