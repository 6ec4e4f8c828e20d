import { and, eq, like } from "drizzle-orm";
import type { Transaction } from "#db/client.ts";
import { agents, browsers, sealedSecrets, sessions } from "#db/schema/index.ts";
import { MCP_SECRETS } from "#lib/session/secrets/secret-names.ts";
import { selectedUrl } from "#lib/session/store/selected-url-store.ts";
import type { AgentRow } from "./agent-store.ts";

/** Writes the row that makes a session a sub-agent. */
export async function insertAgent(tx: Transaction, fields: typeof agents.$inferInsert): Promise<AgentRow> {
  const [row] = await tx.insert(agents).values(fields).returning();
  if (!row) throw new Error("the row of a sub-agent was not written");
  return row;
}

/** The encrypted secrets of a session's tool servers. */
export const listServerSecrets = (
  tx: Transaction,
  sessionId: string,
): Promise<{ name: string; sealed: string }[]> =>
  tx
    .select({ name: sealedSecrets.name, sealed: sealedSecrets.sealed })
    .from(sealedSecrets)
    .where(and(eq(sealedSecrets.sessionId, sessionId), like(sealedSecrets.name, `${MCP_SECRETS}%`)));

/**
 * URL of the page that a session's browser shows. If no browser runs, URL of the page that the session selects. Null if
 * there is no such page or the URL is not http or https.
 */
export async function readPageUrl(tx: Transaction, sessionId: string): Promise<string | null> {
  const [row] = await tx
    .select({ currentUrl: browsers.currentUrl, selectedUrl })
    .from(sessions)
    .leftJoin(browsers, eq(browsers.sessionId, sessions.id))
    .where(eq(sessions.id, sessionId));
  const url = row?.currentUrl ?? row?.selectedUrl ?? null;
  return url?.startsWith("http") ? url : null;
}
