import type { Elicitations } from "#lib/session/elicitation/elicitation.ts";
import { McpFailure, toMcpFailure } from "../mcp-error.ts";
import type { McpLimits } from "../mcp-limits.ts";
import { createRedactor, redactStrings } from "../redact-secrets.ts";
import { type McpTurn, QUESTIONS_MAX } from "../tool-server.ts";
import type { CallClock } from "../tools/call-tool.ts";
import type { RawListing } from "../tools/list-tools.ts";
import { findServer, type ServerDeps } from "./find-server.ts";
import { type FormRequest, type McpConnection, STATELESS } from "./mcp-connection.ts";
import { openConnection } from "./open-connection.ts";
import { planQuestion } from "./plan-question.ts";

/** A tool call in progress on a connection. */
export type ActiveCall = {
  callId: string;
  signal: AbortSignal;
  clock: CallClock | undefined;
  /** How many questions the server has asked during this call. */
  questions: number;
  /** Whether a form of the server is currently shown to the person. */
  isAsking: boolean;
  /** Whether a form of the server was declined because no person can be asked. */
  isDeclined: boolean;
};

/** A turn's connection to one server. */
export type TurnConnection = {
  opened: Promise<McpConnection>;
  /** Redacts secrets in a text: those in the server's request headers and URL, and the service's user tokens. */
  redact: (text: string) => string;
  calls: Set<ActiveCall>;
  /** The list of the server's tools, and until when it may be used again, as `performance.now()`. */
  listed: { listing: RawListing; untilMs: number } | undefined;
  /** The tools whose output schemas could not be used. */
  unchecked: Set<string>;
};

/** The connections of the active turns. Each turn has its own connection to each of its servers, opened at first use. */
type Connections = {
  /** @throws McpFailure if the connection cannot be opened, or the signal fires first. */
  obtain: (turn: McpTurn, serverId: string, signal: AbortSignal) => Promise<TurnConnection>;
  /** Discards a connection that the server has refused; the next `obtain` opens a new one. */
  drop: (
    turn: McpTurn,
    serverId: string,
    turnConnection: TurnConnection,
    connection: Pick<McpConnection, "revision">,
  ) => void;
  /** Closes the connections of a turn, in the background. */
  release: (turn: Pick<McpTurn, "runId" | "epoch">) => void;
  close: () => Promise<void>;
};

/** What an active turn uses. `revisions`: the revisions of the protocol in which its servers have answered in this turn. */
type ActiveTurn = { servers: Map<string, TurnConnection>; revisions: Map<string, string> };

/** Any revision with `initialize`. */
const OLDER = "2025-11-25";

type ConnectionDeps = ServerDeps & { elicitations: Pick<Elicitations, "askAndWait">; limits: McpLimits };

/** @see Connections */
export function createConnections(deps: ConnectionDeps): Connections {
  const turns = new Map<string, ActiveTurn>();
  const closing = new Set<Promise<unknown>>();

  function closeSoon(turnConnection: TurnConnection): void {
    const closed = turnConnection.opened.then((connection) => connection.close()).catch(() => {});
    closing.add(closed);
    closed.finally(() => closing.delete(closed));
  }

  function open(
    turn: McpTurn,
    { revisions }: ActiveTurn,
    serverId: string,
    signal: AbortSignal,
  ): TurnConnection {
    const { promise: opened, resolve, reject } = Promise.withResolvers<McpConnection>();
    const turnConnection: TurnConnection = {
      opened,
      redact: (text) => text,
      calls: new Set(),
      listed: undefined,
      unchecked: new Set(),
    };
    const onForm = (request: FormRequest) => askForm(deps, turn, serverId, turnConnection, request);
    findServer(deps, turn, serverId)
      .then((server) => {
        // Tokens change during a turn, so they are listed each time.
        const { listSecrets } = server;
        turnConnection.redact = listSecrets
          ? (text) => createRedactor({ ...server, tokens: listSecrets() })(text)
          : createRedactor(server);
        const known = revisions.get(serverId) ?? turn.revisions[serverId];
        return openConnection(server, deps.limits, onForm, { known, signal });
      })
      .then((connection) => {
        revisions.set(serverId, connection.revision);
        return connection;
      })
      .then(resolve, (error: unknown) => reject(toMcpFailure(error)));
    opened.catch(() => {});
    return turnConnection;
  }

  return {
    async obtain(turn, serverId, signal) {
      // A call that outlives its turn must not open a connection, because `release` has run and would not close the
      // connection.
      if (signal.aborted) throw new McpFailure("the turn was stopped");
      const key = keyOf(turn);
      const active = turns.get(key) ?? { servers: new Map(), revisions: new Map() };
      turns.set(key, active);
      const { servers } = active;
      const existing = servers.get(serverId);
      if (existing && (await isUsable(existing))) return existing;
      // If two calls find the same connection closed, the first call opens a new one, and the second call uses it too.
      const renewed = servers.get(serverId);
      const turnConnection = renewed && renewed !== existing ? renewed : open(turn, active, serverId, signal);
      servers.set(serverId, turnConnection);
      await turnConnection.opened;
      // The turn may have ended while the connection was opening.
      if (turns.get(key) !== active) closeSoon(turnConnection);
      return turnConnection;
    },
    drop(turn, serverId, turnConnection, { revision }) {
      const active = turns.get(keyOf(turn));
      if (active?.servers.get(serverId) === turnConnection) active.servers.delete(serverId);
      // A server that refuses requests of this revision no longer speaks it, so the next connection begins with an older
      // one.
      if (revision === STATELESS) active?.revisions.set(serverId, OLDER);
      closeSoon(turnConnection);
    },
    release(turn) {
      const active = turns.get(keyOf(turn));
      turns.delete(keyOf(turn));
      for (const turnConnection of active?.servers.values() ?? []) closeSoon(turnConnection);
    },
    async close() {
      for (const { servers } of turns.values())
        for (const turnConnection of servers.values()) closeSoon(turnConnection);
      turns.clear();
      await Promise.all(closing);
    },
  };
}

const keyOf = ({ runId, epoch }: Pick<McpTurn, "runId" | "epoch">) => `${runId}:${epoch}`;

const isUsable = ({ opened }: TurnConnection): Promise<boolean> =>
  opened.then(
    ({ isOpen }) => isOpen(),
    () => false,
  );

/**
 * Shows a server's form to the person of the turn, for the oldest call on the connection. Declines if there is no call,
 * no person is present, a form is already open, or the call has asked too many questions.
 */
async function askForm(
  { elicitations, limits }: ConnectionDeps,
  turn: McpTurn,
  serverId: string,
  turnConnection: TurnConnection,
  request: FormRequest,
) {
  const [call] = turnConnection.calls;
  if (call && !turn.mayAskPeople) call.isDeclined = true;
  const canAsk = turn.mayAskPeople && call && !call.isAsking && call.questions < QUESTIONS_MAX;
  const plan = canAsk ? planQuestion(serverId, request) : undefined;
  if (!canAsk || !plan) return { action: "decline" as const };
  const { sessionId, runId } = turn;
  const timeoutMs = Math.min(limits.answerMs, turn.answerTimeoutMs ?? limits.answerMs);
  call.questions += 1;
  // Questions are stored by call id, so each further question of the same call needs a different id.
  const callId = call.questions === 1 ? call.callId : `${call.callId}/${call.questions}`;
  call.isAsking = true;
  call.clock?.pause();
  try {
    const end = await elicitations.askAndWait(
      { sessionId, runId, callId, signal: call.signal },
      { ...redactStrings(plan.question, turnConnection.redact), timeoutMs },
    );
    return plan.toResult(end);
  } finally {
    call.isAsking = false;
    call.clock?.resume();
  }
}
