import type { Database } from "#db/client.ts";
import { isBelow } from "#lib/agents/agent-store.ts";
import { SESSION_ID_PATTERN } from "#lib/session/new-id.ts";
import { findSession, type SessionRow } from "#lib/session/store/session-store.ts";
import { type Failure, fail } from "../http/errors.ts";

/**
 * Finds a session by an id that a caller sent. With `ownerId`, finds only sessions of this owner. For an id in the
 * wrong form, returns undefined without a database query.
 */
export const findKnownSession = async (
  { db }: { db: Database },
  sessionId: string,
  ownerId?: string,
): Promise<SessionRow | undefined> =>
  SESSION_ID_PATTERN.test(sessionId) ? findSession(db, sessionId, ownerId) : undefined;

/** Finds a sub-agent below a session by an id that a caller sent. @returns the sub-agent's own session. */
export const findSubAgent = async (
  { db }: { db: Database },
  sessionId: string,
  agentId: string,
): Promise<SessionRow | undefined> =>
  SESSION_ID_PATTERN.test(agentId) && (await isBelow(db, sessionId, agentId))
    ? findSession(db, agentId)
    : undefined;

/**
 * Returns the refusal for a session that does not exist or belongs to another owner. A caller cannot distinguish the
 * two cases.
 */
export const unknownSession = (): Failure => fail("not_found", "no such session");
