import { addUsage } from "#lib/agents/add-usage.ts";
import {
  type AgentRow,
  type BriefAgent,
  findAgent,
  listBelow,
  listBriefly,
  listLastSteps,
  listNewestRequests,
} from "#lib/agents/agent-store.ts";
import { cancelAgent } from "#lib/agents/cancel-agents.ts";
import type { AgentView } from "#lib/client/wire.ts";
import { listOpenRuns } from "#lib/session/store/run-store.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { listWaitKinds } from "#lib/session/store/wait-store.ts";
import { chooseWaitKind } from "#lib/session/waiting/waiting-on.ts";
import { statusPath, streamPath } from "../contract/paths.ts";
import { fail } from "../http/errors.ts";
import { sendPicture } from "./browser-handlers.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/** `GET …/agents`: lists all sub-agents below a session. The list is flat. Source: `wire.md`, Sub-agents. */
async function listAgents(
  { db, browser, shares, settings }: Pick<ApiServices, "db" | "browser" | "shares" | "settings">,
  { params }: CallOf<"listAgents">,
): Promise<Answer> {
  const below = await listBelow(db, params.sessionId);
  const ids = below.map((row) => row.sessionId);
  const steps = await listLastSteps(db, ids);
  const requests = await listNewestRequests(db, ids);
  const liveViews = new Map<string | null, string | null>();
  for (const shownId of new Set(below.flatMap(({ browserSessionId }) => browserSessionId ?? []))) {
    const isShown = (await browser.readStatus(shownId)).liveViewUrl !== null;
    const session = isShown ? await findSession(db, shownId) : undefined;
    const url = session && settings.baseUrl + shares.liveViewPath(session.id, session.shareRevocation);
    liveViews.set(shownId, url ?? null);
  }
  const agents = below.map((row) => {
    const requestId = requests.get(row.sessionId) ?? "";
    return {
      ...describeAgent(row, steps),
      ...(row.result && { result: row.result.value }),
      statusUrl: statusPath(row.sessionId, requestId),
      streamUrl: streamPath(row.sessionId, requestId),
      liveViewUrl: liveViews.get(row.browserSessionId) ?? null,
    };
  });
  return { ok: true, status: 200, body: { success: true, agents } };
}

/**
 * Maximum length of a result in the page's list, in characters of JSON. The sub-agent's own page shows the full result
 * in its transcript.
 */
const RESULT_CHARACTERS_MAX = 4_096;

/** Lists the sub-agents below a session for the session page, at most 100. The list is flat. */
async function listPersonAgents(
  services: Pick<ApiServices, "db" | "browser">,
  { params }: { params: { sessionId: string } },
): Promise<Answer> {
  const agents = await readAgentViews(services, params.sessionId);
  return { ok: true, status: 200, body: { success: true, agents } };
}

/**
 * Reads the sub-agents below a session for the session page. If there are more than 100, leaves out the oldest ones of
 * those that have ended. The cost does not depend on the length of the sub-agents' event logs.
 */
export async function readAgentViews(
  { db, browser }: Pick<ApiServices, "db" | "browser">,
  sessionId: string,
): Promise<AgentView[]> {
  const below = await listBriefly(db, sessionId, RESULT_CHARACTERS_MAX);
  const ids = below.map((row) => row.sessionId);
  const steps = await listLastSteps(db, ids);
  const waits = await listWaitKinds(db, ids);
  const pictures = await browser.readPictureTimes(below.flatMap((row) => row.browserSessionId ?? []));
  return below.map((row) => ({
    ...describeAgent(row, steps),
    ...(row.resultText !== null && readResult(row.resultText, row.isResultCut)),
    waitingOn: chooseWaitKind(waits.get(row.sessionId) ?? []) ?? null,
    pictureTakenAt: pictures.get(row.browserSessionId ?? "")?.toISOString() ?? null,
  }));
}

const readResult = (json: string, isCut: boolean) =>
  isCut ? { result: json, isResultCut: true } : { result: JSON.parse(json) };

function describeAgent(row: AgentRow | BriefAgent, steps: Map<string, string>) {
  return {
    agentId: row.sessionId,
    parentId: row.parentSessionId,
    depth: row.depth,
    name: row.name,
    objective: row.objective,
    browser: row.browser,
    status: row.outcome ?? ("running" as const),
    lastStep: steps.get(row.sessionId) ?? null,
    progress: row.progress,
    error: row.error,
    submitted: row.isSubmitted,
    usage: addUsage([row.usage]),
    createdAt: row.createdAt.toISOString(),
    settledAt: row.settledAt?.toISOString() ?? null,
  };
}

/** Stops a sub-agent and all sub-agents below it. Called by a person on the session page. */
async function cancelAgentAsPerson(
  { db, turn }: ApiServices,
  { params }: CallOf<"cancelAgentAsPerson">,
): Promise<Answer> {
  const { sessionId } = params;
  const agent = await findAgent(db, sessionId);
  if (!agent || agent.outcome !== null) return fail("conflict", "this sub-agent has ended");
  const [open] = await listOpenRuns(db, sessionId);
  await cancelAgent({ db, stopRun: turn.stopRun }, sessionId);
  return { ok: true, status: 202, body: { success: true, sessionId, runId: open?.run.id ?? null } };
}

/**
 * Answers with the last picture of the page that a sub-agent works on. A sub-agent without its own browser works on its
 * parent's page.
 */
async function readAgentPicture(
  services: ApiServices,
  { params }: CallOf<"readAgentPicture">,
): Promise<Answer> {
  const agent = await findAgent(services.db, params.sessionId);
  return sendPicture(services, agent?.browserSessionId ?? params.sessionId);
}

export const agentHandlers = {
  listAgents,
  listPersonAgents,
  listAgentsBelow: listPersonAgents,
  cancelAgentAsPerson,
  readAgentPicture,
} satisfies Partial<Handlers>;
