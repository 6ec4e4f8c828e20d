import type { Database } from "#db/client.ts";
import { isBelow } from "#lib/agents/agent-store.ts";
import { SESSION_ID_PATTERN } from "#lib/session/new-id.ts";
import { findSession, type SessionRow } from "#lib/session/session-store.ts";
import { type Failure, fail } from "../http/errors.ts";

/**
 * Finds a session by an id from a caller, restricted to one owner if `ownerId` is given. An id of another form is not
 * looked up.
 */
export const findKnownSession = async (
  { db }: { db: Database },
  sessionId: string,
  ownerId?: string,
): Promise<SessionRow | undefined> =>
  SESSION_ID_PATTERN.test(sessionId) ? findSession(db, sessionId, ownerId) : undefined;

/** Finds the session of a sub-agent below a session, by an id from a caller. */
export const findSubAgent = async (
  { db }: { db: Database },
  sessionId: string,
  agentId: string,
): Promise<SessionRow | undefined> =>
  SESSION_ID_PATTERN.test(agentId) && (await isBelow(db, sessionId, agentId))
    ? findSession(db, agentId)
    : undefined;

/** The refusal for a session that does not exist or belongs to another owner; a caller cannot distinguish the two. */
export const unknownSession = (): Failure => fail("not_found", "no such session");
