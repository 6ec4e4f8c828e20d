import { and, eq } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { sealedSecrets } from "#db/schema/index.ts";

/** Stores an encrypted value of a session under a name. If `sealed` is null, removes the stored value. */
export async function putSealed(
  db: Executor,
  sessionId: string,
  name: string,
  sealed: string | null,
): Promise<void> {
  if (sealed === null) {
    await db
      .delete(sealedSecrets)
      .where(and(eq(sealedSecrets.sessionId, sessionId), eq(sealedSecrets.name, name)));
    return;
  }
  await db
    .insert(sealedSecrets)
    .values({ sessionId, name, sealed })
    .onConflictDoUpdate({ target: [sealedSecrets.sessionId, sealedSecrets.name], set: { sealed } });
}
