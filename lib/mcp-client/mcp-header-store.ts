import { and, eq } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { sealedSecrets } from "#db/schema/index.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import { nameMcpHeaders, placeSecret } from "#lib/session/session-store.ts";
import { McpFailure } from "./mcp-error.ts";

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

/** A secret of a session as it lies there, sealed; undefined where it has none of that name. */
async function findSealedSecret(db: Database, sessionId: string, name: string): Promise<string | undefined> {
  const [row] = await db
    .select({ sealed: sealedSecrets.sealed })
    .from(sealedSecrets)
    .where(and(eq(sealedSecrets.sessionId, sessionId), eq(sealedSecrets.name, name)));
  return row?.sealed;
}
