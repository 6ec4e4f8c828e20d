import { createHash } from "node:crypto";
import type { Transaction } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { AgentBrowser } from "#db/schema/unions.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { titleOf } from "#lib/session/creation/create-session.ts";
import { limitDelegation } from "#lib/session/delegation.ts";
import { toMessageRows } from "#lib/session/follow-up/incoming-message.ts";
import { newId } from "#lib/session/new-id.ts";
import { placeSecret } from "#lib/session/secrets/secret-names.ts";
import type { NamedSecret } from "#lib/session/secrets/split-secrets.ts";
import { lockCounters } from "#lib/session/store/follow-up-store.ts";
import { type Job, requestRun } from "#lib/session/store/jobs.ts";
import { findFirstRun } from "#lib/session/store/run-store.ts";
import { insertNewSession } from "#lib/session/store/session-store.ts";
import { narrowToChild } from "#lib/tools/toolset.ts";
import { refuseDepth, refuseOverCap } from "./admission.ts";
import { type AgentRow, countLive, listNames, listSpawned, mayDelegate, readParent } from "./agent-store.ts";
import type { AgentsDeps } from "./agents-deps.ts";
import { insertAgent, listServerSecrets, readPageUrl } from "./spawn-store.ts";

/** A sub-agent that the model requested, after validation. */
type NewAgent = {
  name?: string | undefined;
  objective: string;
  context?: string | undefined;
  browser: AgentBrowser;
  url?: string | undefined;
  resultSchema?: Record<string, unknown> | undefined;
};

type SpawnCall = { sessionId: string; requestId: string; runId: string; callId: string };

type SpawnResult = { ok: true; agents: (AgentRow & { requestId: string })[] } | { ok: false; error: string };

/**
 * Spawns all requested sub-agents, with their sessions, first runs and jobs, or none of them. The row of the root
 * session stays locked until the commit, so concurrent calls together cannot exceed a limit. A repeated call returns
 * the sub-agents that its first attempt spawned.
 * Source: `wire.md`, Sub-agents.
 */
export async function spawnAgents(
  deps: AgentsDeps,
  call: SpawnCall,
  newAgents: NewAgent[],
): Promise<SpawnResult> {
  const { result, jobs } = await repeatOnDeadlock(() =>
    deps.log.transact(call.sessionId, (tx, emit) => spawn(deps, tx, emit, call, newAgents)),
  );
  await faultPoint("agents-spawned");
  deps.jobs.sendSoon(jobs);
  return result;
}

async function spawn(
  deps: AgentsDeps,
  tx: Transaction,
  emit: Emit,
  call: SpawnCall,
  newAgents: NewAgent[],
): Promise<{ result: SpawnResult; jobs: Job[] }> {
  const refuse = (error: string) => ({ result: { ok: false, error } as const, jobs: [] });
  const parent = await readParent(tx, call.sessionId);
  if (!parent) return refuse("spawn_agents: this session was deleted.");
  const rootSessionId = parent.agent?.rootSessionId ?? call.sessionId;
  // Locks ancestors before their descendants, as the end of a run does, to avoid a deadlock.
  await lockCounters(tx, rootSessionId);
  if (rootSessionId !== call.sessionId) await lockCounters(tx, call.sessionId);
  const existing = await listSpawned(tx, call);
  if (existing.length > 0)
    return { result: { ok: true, agents: await withRequests(tx, existing) }, jobs: [] };
  const refusal = await refuseSpawn(deps, tx, call, parent, newAgents);
  if (refusal !== undefined) return refuse(refusal);
  const names = nameAll(newAgents, await listNames(tx, rootSessionId));
  if (typeof names === "string") return refuse(names);

  const browserId = parent.agent ? parent.agent.browserSessionId : call.sessionId;
  const inherited: Inherited = {
    parent,
    rootSessionId,
    browserId,
    pageUrl: browserId === null ? null : await readPageUrl(tx, browserId),
    secrets: await openServerSecrets(deps, tx, call.sessionId),
  };
  const children: Child[] = [];
  for (const [index, newAgent] of newAgents.entries())
    children.push(
      await insertChild(deps, tx, call, inherited, { newAgent, name: names[index] ?? "", index }),
    );
  for (const { agent } of children)
    emit({
      kind: "agent.spawned",
      requestId: call.requestId,
      runId: call.runId,
      source: parent.session.source,
      agentId: agent.sessionId,
      name: agent.name,
      objective: agent.objective,
      browser: agent.browser,
      depth: agent.depth,
    });
  return {
    result: { ok: true, agents: children.map(({ agent }) => agent) },
    jobs: children.map(({ job }) => job),
  };
}

type Parent = NonNullable<Awaited<ReturnType<typeof readParent>>>;

/** Returns why these sub-agents cannot be spawned; undefined if they can. The caller has locked the root session. */
async function refuseSpawn(
  { limits }: AgentsDeps,
  tx: Transaction,
  call: SpawnCall,
  { session, agent }: Parent,
  newAgents: NewAgent[],
): Promise<string | undefined> {
  if (!(await mayDelegate(tx, call.runId))) return "spawn_agents: the turn is being stopped.";
  const rootSessionId = agent?.rootSessionId ?? call.sessionId;
  const browsers = newAgents.filter(({ browser }) => browser === "own").length;
  return (
    refuseDepth(agent?.depth ?? 0, limits) ??
    refuseBrowsers(newAgents, session.capabilities.browser, session.toolset) ??
    refuseOverCap(
      { tool: "spawn_agents", children: newAgents.length, browsers },
      await countLive(tx, { sessionId: call.sessionId, rootSessionId }),
      { ...limitDelegation(session, limits), maxLiveTotal: limits.maxLiveTotal },
    )
  );
}

/** What all sub-agents of one call inherit from their parent. */
type Inherited = {
  parent: Parent;
  rootSessionId: string;
  /** Id of the session whose browser the parent uses. Null if the parent is a sub-agent without a browser. */
  browserId: string | null;
  /**
   * URL of the page that the parent's browser shows, or will show first. Null if there is no such page, or if the URL
   * is not http or https.
   */
  pageUrl: string | null;
  /** Headers and URLs of the parent's MCP tool servers. */
  secrets: NamedSecret[];
};

type Child = { agent: AgentRow & { requestId: string }; job: Job };

/** Writes a sub-agent: its session with the first message, run and job, and the row that makes the session a sub-agent. */
async function insertChild(
  { sealer }: AgentsDeps,
  tx: Transaction,
  call: SpawnCall,
  { parent, rootSessionId, browserId, pageUrl, secrets }: Inherited,
  { newAgent, name, index }: { newAgent: NewAgent; name: string; index: number },
): Promise<Child> {
  const { session } = parent;
  const { browser, objective } = newAgent;
  const [sessionId, requestId, runId] = [newId("ses"), newId("req"), newId("run")];
  const job = requestRun({ id: runId, sessionId, generation: 1 });
  const message = { role: "user" as const, parts: [{ type: "text" as const, text: describeTask(newAgent) }] };
  await insertNewSession(tx, {
    session: {
      ...session,
      id: sessionId,
      parentSessionId: call.sessionId,
      title: titleOf([message]),
      task: null,
      metadata: null,
      idempotencyKey: null,
      bodyHash: createHash("sha256").update(JSON.stringify(newAgent)).digest("hex"),
      targetUrl: browser === "none" ? (newAgent.url ?? null) : (newAgent.url ?? pageUrl),
      targetPageUrls: [],
      outputSchema: null,
      systemPrompt: null,
      toolset: narrowToChild(session.toolset, browser !== "none"),
      callbackUrl: null,
      callbackEvents: null,
      messageSeq: 1,
    },
    request: { id: requestId, runId, origin: "subagent" },
    // `userId` is null, because the parent's model wrote the message.
    messages: toMessageRows([message], { sessionId, requestId, userId: null, firstSeq: 1 }),
    secrets: secrets.map(({ name, text }) => ({
      name,
      sealed: sealer.seal(placeSecret(sessionId, name), text),
    })),
    job,
  });
  const agent = await insertAgent(tx, {
    sessionId,
    parentSessionId: call.sessionId,
    rootSessionId,
    depth: (parent.agent?.depth ?? 0) + 1,
    name,
    objective,
    browser,
    browserSessionId: browser === "own" ? sessionId : browser === "shared" ? browserId : null,
    resultSchema: newAgent.resultSchema ?? null,
    spawnRunId: call.runId,
    spawnCallId: call.callId,
    spawnIndex: index,
  });
  return { agent: { ...agent, requestId }, job };
}

/** Returns why a requested browser is not available, or undefined if all requested browsers are available. */
function refuseBrowsers(
  newAgents: NewAgent[],
  hasBrowser: boolean,
  toolset: readonly string[],
): string | undefined {
  const index = newAgents.findIndex(({ browser }) => browser !== "none");
  if (index < 0 || (hasBrowser && toolset.some((name) => name === "browser_execute" || name === "dom_query")))
    return undefined;
  return `spawn_agents: agents[${index}].browser: "${newAgents[index]?.browser}" is not available, because this session has no browser tools. Use "none".`;
}

/** Returns a name for each sub-agent, or an error message if a requested name is taken. */
function nameAll(newAgents: NewAgent[], taken: string[]): string[] | string {
  const used = new Set(taken);
  for (const [index, { name }] of newAgents.entries()) {
    if (name === undefined) continue;
    if (used.has(name))
      return `spawn_agents: agents[${index}].name: "${name}" is taken. Names are unique in the whole tree.`;
    used.add(name);
  }
  let number = 0;
  return newAgents.map(({ name }) => {
    if (name !== undefined) return name;
    do number++;
    while (used.has(`agent-${number}`));
    used.add(`agent-${number}`);
    return `agent-${number}`;
  });
}

/** The first user message of a sub-agent: its task. */
const describeTask = ({ objective, context }: NewAgent): string =>
  context === undefined ? objective : `${objective}\n\nContext:\n${context}`;

/** The secrets of the session's tool servers, decrypted. */
async function openServerSecrets(
  { sealer }: AgentsDeps,
  tx: Transaction,
  sessionId: string,
): Promise<NamedSecret[]> {
  const rows = await listServerSecrets(tx, sessionId);
  return rows.map(({ name, sealed }) => ({ name, text: sealer.open(placeSecret(sessionId, name), sealed) }));
}

async function withRequests(tx: Transaction, rows: AgentRow[]) {
  return Promise.all(
    rows.map(async (row) => ({
      ...row,
      requestId: (await findFirstRun(tx, row.sessionId))?.requestId ?? "",
    })),
  );
}
