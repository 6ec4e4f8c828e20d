import type { Database } from "#db/client.ts";
import { isBelow } from "#lib/agents/agent-store.ts";
import { SESSION_ID_PATTERN } from "#lib/session/new-id.ts";
import { findSession, type SessionRow } from "#lib/session/session-store.ts";
import { type Failure, fail } from "../http/errors.ts";

/** A session by the id a caller gave, of one owner where that is given; text that is no session's id is not looked up. */
export const findKnownSession = async (
  { db }: { db: Database },
  sessionId: string,
  ownerId?: string,
): Promise<SessionRow | undefined> =>
  SESSION_ID_PATTERN.test(sessionId) ? findSession(db, sessionId, ownerId) : undefined;

/** The session of a sub-agent below a session, by the id a caller gave. */
export const findSubAgent = async (
  { db }: { db: Database },
  sessionId: string,
  agentId: string,
): Promise<SessionRow | undefined> =>
  SESSION_ID_PATTERN.test(agentId) && (await isBelow(db, sessionId, agentId))
    ? findSession(db, agentId)
    : undefined;

/** The refusal for a session that is not there, and for one of somebody else, which reads the same. */
export const unknownSession = (): Failure => fail("not_found", "no such session");
