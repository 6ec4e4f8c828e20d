import { and, eq } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { sealedSecrets } from "#db/schema/index.ts";

/** A secret of a session as it lies there, sealed; undefined where it has none of that name. */
export async function findSealedSecret(
  db: Database,
  sessionId: string,
  name: string,
): Promise<string | undefined> {
  const [row] = await db
    .select({ sealed: sealedSecrets.sealed })
    .from(sealedSecrets)
    .where(and(eq(sealedSecrets.sessionId, sessionId), eq(sealedSecrets.name, name)));
  return row?.sealed;
}
