import type { ShareRole } from "#db/schema/unions.ts";
import { findLastRuns, findOpenRuns, listSessions as readSessions } from "#lib/session/list/list-store.ts";
import { projectSessionState } from "#lib/session/list/project-session-state.ts";
import { SESSION_ID_PATTERN } from "#lib/session/new-id.ts";
import { isCompacting, projectOutcome, projectTurnState } from "#lib/session/run/status.ts";
import type { SessionRow } from "#lib/session/session-store.ts";
import { roleOf } from "../auth/authenticate.ts";
import { type Failure, fail } from "../http/errors.ts";
import type { Answer } from "../operations/handler.ts";
import type { ApiServices } from "../services.ts";
import type { CallOf } from "./handler.ts";

const PAGE = 50;

/** `GET /api/sessions`, newest first. */
export async function listSessions(
  services: ApiServices,
  { caller, query }: CallOf<"listSessions">,
): Promise<Answer> {
  const before = query.cursor === undefined ? undefined : readCursor(query.cursor);
  if (query.cursor !== undefined && !before) return unknownCursor();
  const limit = query.limit ?? PAGE;
  const rows = await readSessions(services.db, caller.ownerId, {
    ...(before && { before }),
    limit: limit + 1,
  });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const data = await summarise(services, page, roleOf(caller));
  return {
    ok: true,
    status: 200,
    body: { success: true, data, nextCursor: last ? writeCursor(last) : null },
  };
}

/**
 * Sessions as lists show them.
 *
 * @param role what the share links let their holder do: no more than the caller may.
 */
export async function summarise({ db, shares }: ApiServices, rows: SessionRow[], role: ShareRole) {
  const ids = rows.map((row) => row.id);
  const [lastRuns, openRuns] = [await findLastRuns(db, ids), await findOpenRuns(db, ids)];
  return rows.map((row) => {
    const [lastRun, openRun] = [lastRuns.get(row.id), openRuns.get(row.id)];
    return {
      id: row.id,
      title: row.title,
      targetUrl: row.targetUrl,
      source: row.source,
      isStructured: row.outputSchema !== null,
      ...projectSessionState(openRun, lastRun),
      turnState: projectTurnState(openRun ? 1 : 0, openRun && isCompacting(openRun)),
      lastOutcome: lastRun ? projectOutcome(lastRun) : null,
      createdAt: row.createdAt.toISOString(),
      shareUrl: shares.sharePath(row.id, row.shareRevocation, role),
    };
  });
}

/** `GET …/messages`, oldest first; the cursor is the last sequence number. */
export async function listMessages(
  services: ApiServices,
  { params, query }: CallOf<"listMessages">,
): Promise<Answer> {
  const limit = query.limit ?? PAGE;
  const rows = await services.transcript.list(params.sessionId, {
    after: query.cursor ?? 0,
    limit: limit + 1,
  });
  const data = rows.slice(0, limit);
  const nextCursor = rows.length > limit ? String(data.at(-1)?.seq) : null;
  return { ok: true, status: 200, body: { success: true, data, nextCursor } };
}

/** The refusal of a cursor that no page of the list gave. */
export const unknownCursor = (): Failure => fail("invalid_request", "cursor: is not one that this list gave");

/** The cursor after a row. */
export const writeCursor = (row: { createdAt: Date; id: string }) =>
  Buffer.from(`${row.createdAt.toISOString()} ${row.id}`).toString("base64url");

/** @returns undefined for a cursor that no list gave. */
export function readCursor(cursor: string): { createdAt: Date; id: string } | undefined {
  const [at = "", id = ""] = Buffer.from(cursor, "base64url").toString().split(" ");
  const createdAt = new Date(at);
  const isOurs =
    /^[1-9]\d{3}-.*Z$/.test(at) && !Number.isNaN(createdAt.getTime()) && SESSION_ID_PATTERN.test(id);
  return isOurs ? { createdAt, id } : undefined;
}
