import { storable } from "#db/storable.ts";
import type { McpTurn } from "#lib/mcp-client/tool-server.ts";
import type { RemoteTool, Skipped } from "#lib/mcp-client/tools/admit-tools.ts";
import { skipTools, toToolName } from "#lib/mcp-client/tools/admit-tools.ts";
import { measureBytes } from "#lib/mcp-client/tools/list-tools.ts";
import { listSent } from "#lib/model/calls/model-tool.ts";
import { storeMcpRevisions } from "#lib/session/store/session-store.ts";
import { remoteTool } from "#lib/tools/remote/remote-tool.ts";
import { selectRunTools } from "#lib/tools/toolset.ts";
import { aboutRun } from "../record/claim.ts";
import { recordStep } from "../run/record-step.ts";
import { findRecorded, isStopped, type RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { addedMessage } from "./added-message.ts";
import { composePrompt } from "./compose-prompt.ts";

/**
 * The tools that a run has from its tool servers. Usually they are recorded as a step, so that a resumed run does not
 * list them again.
 */
type ComposeStep = { tools: RemoteTool[]; missingServers: string[] };

/** Maximum number of tools in a model call; providers refuse more. */
const TOOLS_MAX = 128;
/**
 * Maximum bytes of the names, descriptions and schemas of a run's remote tools. They are sent with every model call.
 */
const BYTES_MAX = 262_144;

/**
 * Adds the tools of the session's tool servers to a run's prompt. The tools are listed once per run. A server that is
 * unreachable or too slow is skipped: the turn runs without its tools, and an event reports it. Source: specification,
 * MCP servers, rules 4 and 5.
 */
export async function composeTools(deps: TurnDeps, run: RunInPlay): Promise<void> {
  if (run.hasRemoteTools) return;
  const about = toMcpTurn(run);
  const serverIds = listServers(deps, run, about);
  if (serverIds.length === 0) return;
  const step =
    findRecorded<ComposeStep>(run, "compose") ?? (await listRemoteTools(deps, run, about, serverIds));
  if (step) addTools(deps, run, about, step);
}

/**
 * Adds the tools of the service's own server to the prompt of a run that is being opened. This needs no record.
 *
 * @returns whether the prompt is complete. If not, {@link composeTools} has to complete it after the run is open.
 */
export async function composeOwnTools(deps: TurnDeps, run: RunInPlay): Promise<boolean> {
  const about = toMcpTurn(run);
  const serverIds = listServers(deps, run, about);
  if (serverIds.length === 0) return true;
  if (!serverIds.every((id) => deps.mcp.isOurs(about, id))) return false;
  const { step, skipped } = chooseTools(deps, run, await deps.mcp.list(about, serverIds, run.signal));
  if (skipped.length > 0) return false;
  addTools(deps, run, about, step);
  return true;
}

function addTools(deps: TurnDeps, run: RunInPlay, about: McpTurn, step: ComposeStep): void {
  const remote = step.tools.map((tool) => remoteTool(tool, about, deps));
  run.prompt = composePrompt(deps, run.claim, run, remote);
  run.hasRemoteTools = true;
}

const listServers = (deps: Pick<TurnDeps, "mcp" | "settings">, run: RunInPlay, about: McpTurn): string[] =>
  deps.mcp.listServerIds(about).filter((id) => !isExcluded(deps, run, id));

const toMcpTurn = ({ claim, session }: RunInPlay): McpTurn => ({
  sessionId: claim.sessionId,
  runId: claim.runId,
  epoch: claim.epoch,
  mayAskPeople: claim.mayAskPeople,
  answerTimeoutMs: claim.interaction?.timeoutMs,
  servers: session.mcpServers,
  revisions: session.mcpRevisions,
  offerKey: JSON.stringify([session.capabilities, session.tools.exclude]),
});

/** Selects the names of MCP tools that the session's policy allows in this run. */
const selectNames = (
  { settings }: Pick<TurnDeps, "settings">,
  { claim, session }: RunInPlay,
  names: string[],
): Set<string> =>
  new Set(
    selectRunTools({
      toolset: [],
      available: [],
      origin: claim.origin,
      externalTurnExclude: session.tools.externalTurnExclude,
      deploymentExclude: settings.externalTurnExclude,
      mcpTools: { names, exclude: session.tools.exclude },
    }),
  );

/**
 * Whether the policy excludes all tools of a server. Such a server is not called. The check uses a line break as the
 * tool's name: no tool has this name, so only a rule for the whole server can exclude it.
 */
const isExcluded = (deps: Pick<TurnDeps, "settings">, run: RunInPlay, serverId: string): boolean =>
  selectNames(deps, run, [toToolName(serverId, "\n")]).size === 0;

async function listRemoteTools(
  deps: TurnDeps,
  run: RunInPlay,
  about: McpTurn,
  serverIds: string[],
): Promise<ComposeStep | undefined> {
  const listing = await deps.mcp.list(about, serverIds, run.signal).catch((error: unknown) => {
    deps.stops.throwIfShuttingDown();
    if (isStopped(run)) return undefined;
    throw error;
  });
  if (!listing) return undefined;
  await rememberRevisions(deps, run, listing.revisions);
  const { step, skipped } = chooseTools(deps, run, listing);
  // The tools of the built-in server need no record if none was skipped, because listing them again gives the same
  // tools.
  if (skipped.length === 0 && serverIds.every((id) => deps.mcp.isOurs(about, id))) return step;
  const { missingServers } = step;
  return recordStep<ComposeStep>(deps, run, {
    name: "compose",
    output: storable(step),
    modelMessages: missingServers.length > 0 ? [addedMessage(describeMissing(missingServers))] : [],
    events: skipped.map((each) => ({ kind: "mcp.skipped", ...aboutRun(run.claim), ...storable(each) })),
  });
}

/** Stores in which revisions the servers have answered, so that the next turn need not find out again. */
async function rememberRevisions(
  { db, logger }: Pick<TurnDeps, "db" | "logger">,
  { session }: RunInPlay,
  revisions: Record<string, string>,
): Promise<void> {
  const isNew = ([id, revision]: [string, string]) => session.mcpRevisions[id] !== revision;
  const changed = Object.fromEntries(Object.entries(revisions).filter(isNew));
  if (Object.keys(changed).length === 0) return;
  await storeMcpRevisions(db, session.id, changed).catch((error: unknown) =>
    logger.warn({ err: error, sessionId: session.id }, "storing the revisions of tool servers failed"),
  );
}

const describeMissing = (serverIds: readonly string[]): string =>
  `These tool servers could not be reached, so that their tools are missing in this turn: ${serverIds.join(", ")}.`;

/** Chooses the tools that the policy allows and that fit into a model call, and lists what is skipped. */
function chooseTools(
  deps: Pick<TurnDeps, "settings">,
  run: RunInPlay,
  listing: Awaited<ReturnType<TurnDeps["mcp"]["list"]>>,
): { step: ComposeStep; skipped: Skipped[] } {
  const names = selectNames(
    deps,
    run,
    listing.tools.map(({ name }) => name),
  );
  const { tools, skipped } = fitIntoCall(
    listing.tools.filter(({ name }) => names.has(name)),
    TOOLS_MAX - listSent(run.prompt.modelTools).length,
  );
  const allSkipped = [...listing.skipped, ...skipped];
  const missingServers = allSkipped.flatMap(({ serverId, tools: left }) =>
    left === undefined ? [serverId] : [],
  );
  return { step: { tools, missingServers }, skipped: allSkipped };
}

/** Takes tools in order until a model call has no room for more, and skips the rest. */
function fitIntoCall(listed: RemoteTool[], room: number): { tools: RemoteTool[]; skipped: Skipped[] } {
  const tools: RemoteTool[] = [];
  const left = new Map<string, string[]>();
  let bytes = 0;
  let outputBytes = 0;
  for (const { outputSchema, ...tool } of listed) {
    bytes += measureBytes([tool.name, tool.description, tool.inputSchema]);
    outputBytes += outputSchema?.length ?? 0;
    // A tool without its output schema can be used all the same: its structured content is not checked.
    const isKept = outputSchema !== undefined && outputBytes <= BYTES_MAX;
    if (tools.length < room && bytes <= BYTES_MAX) tools.push({ ...tool, ...(isKept && { outputSchema }) });
    else left.set(tool.serverId, [...(left.get(tool.serverId) ?? []), tool.tool]);
  }
  const reason = `a model call has room for ${TOOLS_MAX} tools in all, and ${BYTES_MAX} bytes of descriptions from tool servers; remove what is not needed with tools.exclude`;
  return { tools, skipped: [...left].map(([serverId, names]) => skipTools(serverId, reason, names)) };
}
