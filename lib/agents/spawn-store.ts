import { and, eq, like } from "drizzle-orm";
import type { Transaction } from "#db/client.ts";
import { agents, browsers, sealedSecrets } from "#db/schema/index.ts";
import { MCP_SECRETS } from "#lib/session/secrets/secret-names.ts";
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
 * URL of the page that a session's browser shows. If the browser has not started yet, URL of the page that it will show
 * first. Null if the session has no browser or the URL is not http or https.
 */
export async function readPageUrl(tx: Transaction, sessionId: string): Promise<string | null> {
  const [row] = await tx
    .select({ currentUrl: browsers.currentUrl, desiredUrl: browsers.desiredUrl })
    .from(browsers)
    .where(eq(browsers.sessionId, sessionId));
  const url = row?.currentUrl ?? row?.desiredUrl ?? null;
  return url?.startsWith("http") ? url : null;
}
