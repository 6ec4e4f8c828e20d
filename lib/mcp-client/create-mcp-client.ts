import type { WaitEnd } from "#db/schema/unions.ts";
import type { Elicitations } from "#lib/session/elicitation/elicitation.ts";
import type { CallRounds } from "./call-rounds.ts";
import { type ActiveCall, createConnections, type TurnConnection } from "./connection/connections.ts";
import { createTokenSources, isOurs, listServerIds, type ServerDeps } from "./connection/find-server.ts";
import { type McpConnection, STATELESS } from "./connection/mcp-connection.ts";
import { McpFailure, toMcpFailure } from "./mcp-error.ts";
import { MCP_LIMITS, type McpLimits } from "./mcp-limits.ts";
import { redactStrings } from "./redact-secrets.ts";
import type { McpTurn } from "./tool-server.ts";
import { admitTools, type RemoteTool, type Skipped } from "./tools/admit-tools.ts";
import { type CallClock, callTool, isHeaderMismatch } from "./tools/call-tool.ts";
import { type CheckOutput, checkStructured } from "./tools/check-structured.ts";
import { answerInputs, type McpWaiting } from "./tools/input-required.ts";
import { listTools, type RawListing } from "./tools/list-tools.ts";
import { findParamHeaders } from "./tools/param-headers.ts";
import type { AnswerPart, McpAnswer } from "./tools/read-answer.ts";
import { traceparentOf } from "./trace-context.ts";

/**
 * The tools of a turn's servers, and the tools and servers that were skipped. `revisions`: the revisions of the protocol
 * in which the callers' servers have answered.
 */
type McpListing = { tools: RemoteTool[]; skipped: Skipped[]; revisions: Record<string, string> };

export type McpCall = {
  callId: string;
  serverId: string;
  /** The tool's name on the server. */
  tool: string;
  input: Record<string, unknown>;
  /** What the tool's list said of it. */
  remote?: CalledTool | undefined;
  /** Whether the call may have asked a person already: it has waited, or another process may have begun it. */
  mayHaveAsked?: boolean | undefined;
  /** How the call's wait for a person ended. */
  waitEndedBy?: WaitEnd | undefined;
  signal: AbortSignal;
};

type CalledTool = Partial<Pick<RemoteTool, "isTask" | "isIdempotent" | "paramHeaders" | "outputSchema">>;

/** The client of all tool servers. Each turn has its own connection to each of its servers, opened at first use. */
export type McpClient = {
  /** Lists the ids of a turn's servers. The service's own server comes last. */
  listServerIds: (turn: Pick<McpTurn, "servers">) => string[];
  /**
   * Whether this process itself serves the tools of a server. A turn does not have to store the list of these tools,
   * because the list can be computed at any time.
   */
  isOurs: (turn: Pick<McpTurn, "servers">, serverId: string) => boolean;
  /**
   * Lists the tools of several servers in parallel. Servers that fail or are too slow are reported in `skipped`.
   * @throws the reason of the signal if the signal fires first.
   */
  list: (turn: McpTurn, serverIds: readonly string[], signal: AbortSignal) => Promise<McpListing>;
  /**
   * Calls a tool. If the server needs a person first, the call waits, and has to be made again when a person has
   * answered.
   *
   * @throws McpFailure if the server gave no answer. The error's message never quotes the server. ServiceError if the
   * service itself failed.
   */
  call: (turn: McpTurn, call: McpCall) => Promise<McpAnswer | McpWaiting>;
  /** Closes the connections of a turn, in the background. */
  release: (turn: Pick<McpTurn, "runId" | "epoch">) => void;
  close: () => Promise<void>;
};

type Listed = { listing: RawListing; redact: TurnConnection["redact"]; revision: string };

/** Maximum number of cached tool lists of the service's own server. The cache key is `offerKey`. */
const OFFERS_MAX = 256;

type McpDeps = Omit<ServerDeps, "tokens"> & {
  elicitations: Pick<Elicitations, "askAndWait" | "ask">;
  rounds: CallRounds;
  checkOutput: CheckOutput;
  limits?: Partial<McpLimits>;
};

/** @see McpClient */
export function createMcpClient(deps: McpDeps): McpClient {
  const limits = { ...MCP_LIMITS, ...deps.limits };
  const { elicitations, rounds } = deps;
  const connections = createConnections({ ...deps, tokens: createTokenSources(), limits });

  const offers = new Map<string, McpListing>();

  /** Lists the tools of the service's own server, cached by `offerKey`. */
  async function listOwn(turn: McpTurn, serverId: string, signal: AbortSignal): Promise<McpListing> {
    const cached = offers.get(turn.offerKey);
    if (cached) return cached;
    const listing = await admitAll(limits, [
      { id: serverId, server: await listServer(turn, serverId, signal) },
    ]);
    if (listing.skipped.length > 0) return listing;
    if (offers.size >= OFFERS_MAX) offers.clear();
    offers.set(turn.offerKey, listing);
    return listing;
  }

  async function listServer(turn: McpTurn, serverId: string, signal: AbortSignal): Promise<Listed | Skipped> {
    const late = AbortSignal.timeout(limits.listMs);
    const deadline = AbortSignal.any([signal, late]);
    try {
      return await withConnection(turn, serverId, deadline, async (turnConnection, connection) => {
        const listing = await listCached(turn, turnConnection, connection, deadline);
        return { listing, redact: turnConnection.redact, revision: connection.revision };
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const reason = late.aborted
        ? `the server did not list its tools within ${limits.listMs / 1_000} s`
        : toMcpFailure(error).message;
      return { serverId, reason };
    }
  }

  /** Lists the tools of a server, unless the turn has a list that the server allows to use again. */
  async function listCached(
    turn: McpTurn,
    turnConnection: TurnConnection,
    connection: McpConnection,
    signal: AbortSignal,
  ): Promise<RawListing> {
    const { listed } = turnConnection;
    if (listed && performance.now() < listed.untilMs) return listed.listing;
    const options = { signal, traceparent: traceparentOf(turn.runId, "list") };
    const askedAt = performance.now();
    const listing = await listTools(connection, limits, options);
    turnConnection.listed = { listing, untilMs: askedAt + listing.ttlMs };
    return listing;
  }

  /** Sends a call over the turn's connection to its server. */
  const send = (turn: McpTurn, call: McpCall): Promise<McpAnswer | McpWaiting> =>
    withConnection(turn, call.serverId, call.signal, async (turnConnection, connection) => {
      const { callId, tool, input, signal, remote } = call;
      const activeCall: ActiveCall = {
        callId,
        signal,
        clock: undefined,
        questions: 0,
        isAsking: false,
        isDeclined: false,
      };
      const onClock = (clock: CallClock) => {
        activeCall.clock = clock;
      };
      const sent = {
        tool,
        input,
        isTask: remote?.isTask,
        paramHeaders: remote?.paramHeaders,
        traceparent: traceparentOf(turn.runId, callId),
      };
      turnConnection.calls.add(activeCall);
      try {
        const asking = {
          elicitations,
          rounds,
          limits,
          turn,
          serverId: call.serverId,
          call,
          redact: turnConnection.redact,
        };
        const answer = await answerInputs(asking, async (given) => {
          try {
            return await callTool(connection, { ...sent, given }, limits, signal, onClock);
          } catch (error) {
            if (!isHeaderMismatch(error)) throw error;
            // The tool has changed since it was listed, so its headers are read again.
            turnConnection.listed = undefined;
            const { tools } = await listCached(turn, turnConnection, connection, signal);
            sent.paramHeaders = findParamHeaders(tools, tool);
            return callTool(connection, { ...sent, given }, limits, signal, onClock);
          }
        });
        if ("waitsFor" in answer) return answer;
        const checkOutput = (schema: unknown, value: unknown) =>
          deps.checkOutput(schema, value, turn.sessionId);
        // In older revisions, a null stands for an absent field.
        const isAbsent = answer.structured === null && connection.revision !== STATELESS;
        const raw = isAbsent ? { ...answer, structured: undefined } : answer;
        const checked = await checkStructured(checkOutput, { tool, ...remote }, raw, turnConnection);
        const isDeclined = answer.isDeclined || activeCall.isDeclined;
        const parts = checked.parts.map((part) => redactPart(part, turnConnection.redact));
        return { isError: checked.isError, parts, ...(isDeclined && { isDeclined }) };
      } catch (error) {
        throw isHeaderMismatch(error) ? toMcpFailure(error) : error;
      } finally {
        turnConnection.calls.delete(activeCall);
      }
    });

  /**
   * Uses the turn's connection to a server. If the server has lost the MCP session, or no longer speaks the revision, it
   * did not do what it was asked for; the use is then repeated once, over a new connection.
   */
  async function withConnection<Result>(
    turn: McpTurn,
    serverId: string,
    signal: AbortSignal,
    use: (turnConnection: TurnConnection, connection: McpConnection) => Promise<Result>,
  ): Promise<Result> {
    for (let isRepeated = false; ; isRepeated = true) {
      const opening = AbortSignal.any([signal, AbortSignal.timeout(limits.listMs)]);
      const turnConnection = await connections.obtain(turn, serverId, opening).catch((error: unknown) => {
        throw new McpFailure(toMcpFailure(error).message, { isUnsent: true });
      });
      const connection = await turnConnection.opened;
      try {
        return await use(turnConnection, connection);
      } catch (error) {
        const isLost = connection.canBeLost() && toMcpFailure(error).isSessionLost;
        if (isLost) connections.drop(turn, serverId, turnConnection, connection);
        if (!isLost || isRepeated) throw error;
      }
    }
  }

  return {
    listServerIds: (turn) => listServerIds(deps, turn),
    isOurs: (turn, serverId) => isOurs(deps, turn, serverId),

    async list(turn, serverIds, signal) {
      // The tools of the service's own server are admitted separately, so that their list can be cached. Their names
      // contain the id of that server, so they cannot collide with the names of other tools.
      const isOwn = (id: string) => isOurs(deps, turn, id);
      const own = await Promise.all(serverIds.filter(isOwn).map((id) => listOwn(turn, id, signal)));
      const others = await Promise.all(
        serverIds
          .filter((id) => !isOwn(id))
          .map(async (id) => ({ id, server: await listServer(turn, id, signal) })),
      );
      const parts: McpListing[] = [await admitAll(limits, others), ...own];
      return {
        tools: parts.flatMap(({ tools }) => tools),
        skipped: parts.flatMap(({ skipped }) => skipped),
        revisions: parts[0]?.revisions ?? {},
      };
    },

    async call(turn, call) {
      try {
        return await send(turn, call);
      } catch (error) {
        // The server may have run the call, so only a call that may be repeated is sent again. Source: decision 152.
        const isRepeated = error instanceof McpFailure && error.isBroken && !error.isUnsent;
        if (!isRepeated || !call.remote?.isIdempotent || call.signal.aborted) throw error;
        return send(turn, call);
      }
    },

    release: connections.release,
    close: connections.close,
  };
}

/** Admits the tools of several servers. A tool whose name is already in use is skipped. */
async function admitAll(
  limits: McpLimits,
  listed: { id: string; server: Listed | Skipped }[],
): Promise<McpListing> {
  const usedNames = new Set<string>();
  const found: McpListing = { tools: [], skipped: [], revisions: {} };
  for (const { id, server } of listed) {
    if ("reason" in server) {
      found.skipped.push(server);
      continue;
    }
    found.revisions[id] = server.revision;
    const { tools, skipped } = await admitTools(id, server.listing, limits, usedNames);
    found.tools.push(...tools.map((tool) => redactTool(tool, server.redact)));
    found.skipped.push(...redactStrings(skipped, server.redact));
  }
  return found;
}

const redactPart = (part: AnswerPart, redact: TurnConnection["redact"]): AnswerPart =>
  part.type === "text" ? { ...part, text: redact(part.text) } : part;

const redactTool = (tool: RemoteTool, redact: TurnConnection["redact"]): RemoteTool => {
  const { description, inputSchema, outputSchema, paramHeaders } = tool;
  return {
    ...tool,
    ...redactStrings({ description, inputSchema }, redact),
    ...(outputSchema !== undefined && { outputSchema: redact(outputSchema) }),
    ...(paramHeaders && { paramHeaders: redactStrings(paramHeaders, redact) }),
  };
};
