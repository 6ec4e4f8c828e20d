import { inArray, sql } from "drizzle-orm";
import { requests, runs, sessions } from "#db/schema/index.ts";
import { readOfferedTools } from "#e2e/fixtures/offered-tools.ts";
import type { RecordedRequest } from "#e2e/fixtures/scripted-model/types.ts";
import type { TestService } from "../testing.ts";

/** The tools for delegation. Every session that may delegate has all of them. */
export const DELEGATION_TOOLS = [
  "spawn_agents",
  "wait_for_agents",
  "message_agent",
  "list_agents",
  "cancel_agent",
];
/** The additional tools that sub-agents have. */
export const CHILD_TOOLS = ["submit_result", "report_progress"];

/** Profile of sessions that may delegate, without a browser and a workspace. */
export const delegating = { subAgents: true, capabilities: { browser: false, sandbox: false } };

/** An entry in the answer of `GET …/agents`. */
export type ListedAgent = {
  agentId: string;
  parentId: string;
  name: string;
  status: string;
  result?: unknown;
  error: string | null;
  submitted: boolean;
  statusUrl: string;
  streamUrl: string;
};

export const listTree = async (service: TestService, rootSessionId: string): Promise<ListedAgent[]> =>
  (await service.read<{ agents: ListedAgent[] }>(`/api/sessions/${rootSessionId}/agents`)).agents;

/** Returns the model calls of the sub-agent with this name. The instructions of a sub-agent contain its name. */
export const requestsOfAgent = (service: TestService, name: string): RecordedRequest[] =>
  service.model.requests.filter(({ text }) => text.includes(`Your name is ${name}, at depth`));

/** Returns the names of the tools that a model call offers. */
export const namesIn = (request: Pick<RecordedRequest, "body">): string[] => readOfferedTools(request);

/**
 * Counts the rows that spawning sub-agents adds to the database: sessions, sub-agents, requests, runs, secrets and
 * `agent.*` events.
 */
export async function countEverything({ container }: TestService) {
  const { db } = container.services;
  const { rows } = (await db.execute(sql`select
    (select count(*)::int from sessions) as sessions, (select count(*)::int from agents) as agents,
    (select count(*)::int from requests) as requests, (select count(*)::int from runs) as runs,
    (select count(*)::int from sealed_secrets) as secrets,
    (select count(*)::int from events where kind like 'agent.%') as events`)) as unknown as {
    rows: Record<string, number>[];
  };
  return rows[0];
}

/** Counts the stored sessions with these ids, and the requests and runs of these sessions. */
export async function countSessions({ container }: TestService, ids: string[]) {
  const { db } = container.services;
  return {
    sessions: await db.$count(sessions, inArray(sessions.id, ids)),
    requests: await db.$count(requests, inArray(requests.sessionId, ids)),
    runs: await db.$count(runs, inArray(runs.sessionId, ids)),
  };
}

/** Returns all rows of all tables as text. Each line contains the name of a table and one row. */
export async function dumpDatabase({ container }: TestService): Promise<string> {
  const { db } = container.services;
  const query = async (statement: Parameters<typeof db.execute>[0]) =>
    ((await db.execute(statement)) as unknown as { rows: Record<string, string>[] }).rows;
  const tables = await query(
    sql`select table_schema as schema, table_name as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const lines: string[] = [];
  for (const { schema = "", name = "" } of tables) {
    const rows = await query(
      sql`select row.*::text as line from ${sql.identifier(schema)}.${sql.identifier(name)} row`,
    );
    lines.push(...rows.map(({ line }) => `${name} ${line}`));
  }
  return lines.join("\n");
}
