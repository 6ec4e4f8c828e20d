import { summarise } from "#lib/api/handlers/list-handlers.ts";
import type { ApiServices } from "#lib/api/handlers/services.ts";
import type { StoredEvent } from "#lib/events/event.ts";
import { describeTool } from "#lib/page/labels/describe-tool.ts";
import { listItems } from "#lib/session/store/inbox-store.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { McpRequest } from "../mcp-tool.ts";
import { describeState } from "./session-view.ts";

/**
 * When a wait ends before its time: `attention`: the session has no turn left, or something waits for a person. `end`: the
 * session has no turn left.
 */
export const WAIT_UNTIL = ["attention", "end"] as const;

type Wait = { sessionId: string; ms: number; until: (typeof WAIT_UNTIL)[number] };

/** Items of sub-agents and deadlines of items have no event in the session's log, so the state is also read this often. */
const POLL_MS = 3_000;

/**
 * Waits until a session needs its caller, and reports meanwhile what its agent does. Ends quietly at the deadline, when the
 * session is deleted and when the call is cancelled. The caller may read the session.
 */
export async function waitForSession(
  services: ApiServices,
  { sessionId, ms, until }: Wait,
  { signal, progress }: Pick<McpRequest, "signal" | "progress">,
): Promise<void> {
  const deadline = createDeadline({ ms, signal });
  let activity: string | undefined;
  let wake = Promise.withResolvers<void>();
  const unsubscribe = services.log.subscribe(
    sessionId,
    (item) => {
      if (item.type !== "event") return;
      activity = describeActivity(item.event) ?? activity;
      wake.resolve();
    },
    () => wake.resolve(),
  );
  try {
    for (;;) {
      // Before the state is read, so that an event during the read is not missed.
      wake = Promise.withResolvers();
      const state = await readState(services, sessionId);
      if (!state || isOver(state, until)) return;
      const leftMs = deadline.remainingMs();
      if (signal.aborted || leftMs === 0) return;
      progress(Math.round(ms - leftMs), ms, state.isWorking ? (activity ?? state.sentence) : state.sentence);
      await createDeadline({ ms: Math.min(POLL_MS, leftMs), signal }).settles(wake.promise);
    }
  } finally {
    unsubscribe();
  }
}

type State = { isRunning: boolean; isWorking: boolean; hasItems: boolean; sentence: string };

const isOver = ({ isRunning, hasItems }: State, until: Wait["until"]): boolean =>
  !isRunning || (until === "attention" && hasItems);

async function readState(services: ApiServices, sessionId: string): Promise<State | undefined> {
  const session = await findSession(services.db, sessionId);
  if (!session) return undefined;
  const { ownerId } = session;
  const [items, [summary]] = await Promise.all([
    listItems(services.db, { ownerId, sessionId, state: "open" }, { limit: 1 }),
    summarise(services, [session], "view"),
  ]);
  if (!summary) return undefined;
  return {
    isRunning: summary.turnState !== "idle",
    isWorking: summary.state === "working",
    hasItems: items.length > 0,
    sentence: describeState(summary),
  };
}

/** Describes the tool call with which an event says that it began, as the session page does. */
function describeActivity({ kind, body }: StoredEvent): string | undefined {
  if (kind !== "tool.call") return undefined;
  // The cast is safe, because events are validated before they are stored.
  const { toolName, input } = JSON.parse(body) as { toolName: string; input: unknown };
  const { running, object } = describeTool(toolName, input);
  return object === null ? running : `${running} ${object}`;
}
