import { eq, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { sealedSecrets, sessions } from "#db/schema/index.ts";
import { CALLBACK_SECRET } from "./session-secret.ts";

/** What of a session only its own page of the API tells. */
export type SessionExtras = {
  metadata: Record<string, unknown> | null;
  /** Whether a secret was registered with its callback. */
  isSigned: boolean;
};

/** @see SessionExtras; of a session that is gone there is neither. */
export async function readSessionExtras(db: Database, sessionId: string): Promise<SessionExtras> {
  const [row] = await db
    .select({
      metadata: sessions.metadata,
      isSigned: sql<boolean>`exists (select 1 from ${sealedSecrets}
        where ${sealedSecrets.sessionId} = ${sessionId} and ${sealedSecrets.name} = ${CALLBACK_SECRET})`,
    })
    .from(sessions)
    .where(eq(sessions.id, sessionId));
  return row ?? { metadata: null, isSigned: false };
}
