import type { FaultCase } from "../fault-case.ts";
import type { LineOf } from "../recorder/log-line.ts";
import type { Evidence } from "../world/evidence.ts";
import type { World } from "../world/open-world.ts";

type McpFault = {
  /** The fault that the campaign's tool server simulates; `ok` for none. */
  fault: string;
  name?: string;
  title: string;
  /**
   * Kills the service up to `spreadMs` after it reaches `point` for the nth time, and then starts it again. The seed
   * picks n from `arrivals`.
   */
  kill?: { point: string; arrivals: number[]; spreadMs: number };
  /**
   * The expected states of the first turn's tool calls. Omitted if there is no call because the service skips the
   * server.
   */
  call?: ("succeeded" | "failed" | "unknown")[];
  /** Matches the reason that the service gives for missing tools; omitted if no tools may be missing. */
  skipped?: RegExp;
};

const SLOWEST_LIST_MS = 15_000;
const DIE_WITHIN_MS = 60_000;

const MCP_FAULTS: McpFault[] = [
  { fault: "hang", title: "a listing that takes 16 s", skipped: /within 15 s/ },
  { fault: "redirect", title: "a redirect to a private host", skipped: /redirect/ },
  { fault: "die", title: "a server that dies in mid-call", call: ["failed"] },
  { fault: "many", title: "10,000 tools", call: ["succeeded"], skipped: /at most 128|goes on/ },
  { fault: "huge", title: "a result of 50 MB", call: ["failed"] },
  { fault: "cyclic", title: "a schema that leads back to itself", call: ["succeeded"] },
  {
    fault: "ok",
    name: "listed",
    title: "kill -9 when the tools are listed",
    call: ["succeeded"],
    kill: { point: "K08", arrivals: [1], spreadMs: 20 },
  },
  {
    fault: "ok",
    name: "calling",
    title: "kill -9 in a remote call",
    call: ["unknown"],
    kill: { point: "K14", arrivals: [1], spreadMs: 90 },
  },
  {
    fault: "ok",
    name: "called",
    title: "kill -9 when a remote call is done",
    call: ["unknown"],
    kill: { point: "K15", arrivals: [1], spreadMs: 0 },
  },
  {
    fault: "ask",
    name: "asking",
    title: "kill -9 when a remote call is about to wait for a person",
    call: ["succeeded"],
    kill: { point: "K31", arrivals: [1], spreadMs: 30 },
  },
  {
    fault: "ask",
    name: "answered",
    title: "kill -9 when a remote call has its answer",
    call: ["succeeded"],
    kill: { point: "K32", arrivals: [1], spreadMs: 0 },
  },
];

/** A session's MCP server misbehaves, or the service dies while it uses the server. Every turn must still succeed. */
export const mcpFaults: FaultCase[] = MCP_FAULTS.map((mcp) => ({
  name: `mcp-${mcp.name ?? mcp.fault}`,
  group: "mcp",
  title: mcp.title,
  seedsMax: mcp.kill ? 5 : 1,
  play: (world) => play(world, mcp),
  findViolations: (evidence) => findViolations(mcp, evidence),
}));

async function play(world: World, { fault, kill }: McpFault): Promise<void> {
  const { random, problems, recorder, canaries } = world;
  const delayMs = kill && random.next() < 0.5 ? random.between(0, kill.spreadMs) : 0;
  const at = kill && `${kill.point}:${random.pick(kill.arrivals)}:kill9${delayMs > 0 ? `@${delayMs}` : ""}`;
  await world.start(at);
  const canary = `canary-header-${random.name()}`;
  canaries.push(canary);
  const notes = { url: `${recorder.toolsUrl}/${fault}/mcp`, headers: { authorization: `Bearer ${canary}` } };
  const isAsking = fault === "ask";
  const interaction = isAsking && { interaction: { mode: "ask" } };
  const stopAnswering = isAsking ? world.answerQuestions() : undefined;
  const created = await world.create("mcp", { body: { mcpServers: { notes }, ...interaction } });
  if (created && !kill) await world.followUp(created.sessionId, "plain");
  if (kill) {
    if (!(await world.waitForDeath(DIE_WITHIN_MS))) problems.push(`${kill.point} was not reached`);
    else await world.restart();
  }
  await world.waitUntilIdle();
  await stopAnswering?.();
}

function findViolations(mcp: McpFault, { rows, acknowledged, traffic }: Evidence): string[] {
  const [first] = acknowledged;
  if (!first) return ["the call was not acknowledged"];
  const wrong: string[] = [];
  for (const run of rows.runs) if (run.state !== "succeeded") wrong.push(`${run.id} ended ${run.state}`);
  const lines = traffic.filter((line): line is LineOf<"tools"> => line.type === "tools");
  const executions = lines.filter(({ did, nonce }) => did === "begin" && nonce === first.nonce).length;
  if (executions > 1) wrong.push(`the tool ran ${executions} times`);
  if (mcp.call?.[0] === "succeeded" && executions !== 1)
    wrong.push(`a call succeeded after ${executions} executions`);
  const calls = rows.toolCalls.filter(({ name }) => name === "mcp_notes__note").map(({ state }) => state);
  if (calls.join() !== (mcp.call ?? []).join()) wrong.push(`the calls ended ${calls.join() || "not at all"}`);
  const reasons = rows.events.flatMap(({ kind, body }) =>
    kind === "mcp.skipped" ? [String(JSON.parse(body).reason)] : [],
  );
  const { skipped } = mcp;
  if (skipped ? !reasons.some((reason) => skipped.test(reason)) : reasons.length > 0)
    wrong.push(`missing tools are explained by ${JSON.stringify(reasons)}`);
  const lists = lines.filter(({ did }) => did === "list").length;
  if (mcp.fault === "ok" && lists !== rows.runs.length)
    wrong.push(`${lists} lists for ${rows.runs.length} runs`);
  for (const run of rows.runs)
    if (!mcp.kill && run.startedAt && run.endedAt) {
      const tookMs = run.endedAt.getTime() - run.startedAt.getTime();
      if (tookMs > 2 * SLOWEST_LIST_MS) wrong.push(`${run.id} took ${tookMs} ms`);
    }
  return wrong;
}
