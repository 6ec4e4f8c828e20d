import { addUsage } from "#lib/agents/add-usage.ts";
import { listBelow, listLastSteps, listNewestRequests } from "#lib/agents/agent-store.ts";
import { findSession } from "#lib/session/session-store.ts";
import { statusPath, streamPath } from "../contract/paths.ts";
import type { Answer } from "../operations/handler.ts";
import type { ApiServices } from "../services.ts";
import type { CallOf } from "./handler.ts";

/** `GET …/agents`: the tree below a session, flat. Source: `wire.md`, Sub-agents. */
export async function listAgents(
  { db, browser, shares }: Pick<ApiServices, "db" | "browser" | "shares">,
  { params }: CallOf<"listAgents">,
): Promise<Answer> {
  const below = await listBelow(db, params.sessionId);
  const ids = below.map((row) => row.sessionId);
  const steps = await listLastSteps(db, ids);
  const requests = await listNewestRequests(db, ids);
  const agents = await Promise.all(
    below.map(async (row) => {
      const { sessionId, outcome, browserSessionId } = row;
      const requestId = requests.get(sessionId) ?? "";
      const shown = browserSessionId === null ? undefined : await browser.readStatus(browserSessionId);
      const whose = shown?.liveViewUrl ? await findSession(db, shown.sessionId ?? "") : undefined;
      return {
        agentId: sessionId,
        parentId: row.parentSessionId,
        depth: row.depth,
        name: row.name,
        objective: row.objective,
        browser: row.browser,
        status: outcome ?? "running",
        lastStep: steps.get(sessionId) ?? null,
        progress: row.progress,
        ...(row.result && { result: row.result.value }),
        error: row.error,
        submitted: row.isSubmitted,
        usage: addUsage([row.usage]),
        statusUrl: statusPath(sessionId, requestId),
        streamUrl: streamPath(sessionId, requestId),
        liveViewUrl: whose ? shares.liveViewPath(whose.id, whose.shareRevocation) : null,
        createdAt: row.createdAt.toISOString(),
        settledAt: row.settledAt?.toISOString() ?? null,
      };
    }),
  );
  return { ok: true, status: 200, body: { success: true, agents } };
}
