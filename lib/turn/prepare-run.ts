import { type ToolSet, tool, zodSchema } from "ai";
import { findSession, type SessionRow } from "#lib/session/store.ts";
import type { Tool } from "#lib/tools/tool.ts";
import { selectRunTools } from "#lib/tools/toolset.ts";
import type { Claim } from "./claim.ts";
import { composeInstructions } from "./instructions.ts";
import type { TurnDeps } from "./turn-deps.ts";

/** What stays the same for all model calls of a run. */
export type PreparedRun = {
  session: SessionRow;
  instructions: string;
  tools: ReadonlyMap<string, Tool>;
  toolSet: ToolSet;
};

const prepared = new WeakMap<TurnDeps, Map<string, PreparedRun>>();

/**
 * Composes a run: its tools (the session's toolset, intersected with what exists now, without what filter 6 removes)
 * and its instructions. Made once per run and process.
 */
export async function prepareRun(turn: TurnDeps, claim: Claim): Promise<PreparedRun> {
  const known = prepared.get(turn) ?? new Map<string, PreparedRun>();
  prepared.set(turn, known);
  const cached = known.get(claim.runId);
  if (cached) return cached;

  const session = await findSession(turn.db, claim.sessionId);
  if (!session) throw new Error(`session ${claim.sessionId} is gone`);
  const names = selectRunTools({
    toolset: session.toolset,
    available: [...turn.tools.values()],
    origin: claim.origin,
    externalTurnExclude: session.tools.externalTurnExclude,
  });
  const tools = new Map(
    names.flatMap((name) => {
      const found = turn.tools.get(name);
      return found ? [[name, found] as const] : [];
    }),
  );
  const instructions = composeInstructions({
    toolNames: names,
    targetUrl: session.targetUrl,
    targetPageUrls: session.targetPageUrls,
    currentUrl: await turn.readCurrentUrl(claim.sessionId),
    demoUrl: turn.settings.demoUrl,
    systemPrompt: session.systemPrompt,
    isStructured: claim.isStructured,
    isPersonPresent: claim.origin === "person",
  });
  const made = { session, instructions, tools, toolSet: describeTools(tools) };
  known.set(claim.runId, made);
  return made;
}

/** Forgets what was prepared for a run that ended. */
export const forgetRun = (turn: TurnDeps, runId: string): void => void prepared.get(turn)?.delete(runId);

const described = new WeakMap<Tool, ToolSet[string]>();

/** Tools as the AI SDK sends them: without `execute`, because a call is a durable step of ours. Built once per tool. */
function describeTools(tools: ReadonlyMap<string, Tool>): ToolSet {
  const entries = [...tools].map(([name, definition]) => {
    const known =
      described.get(definition) ??
      tool({ description: definition.description, inputSchema: zodSchema(definition.input) });
    described.set(definition, known);
    return [name, known] as const;
  });
  return Object.fromEntries(entries);
}
