import { currentRun, isWorking, mayDirect, type SessionState } from "./session-state.ts";
import type { RunView } from "./view-types.ts";

/** The message that lets the agent continue after a stop. */
const CONTINUE = "Continue.";

/** A message to send, with the paths of its files. */
type FollowUp = { kind: "continue" | "retry"; text: string; attachments: string[] };

/**
 * Finds the message that a person can send with one click after a run that was stopped, failed or did not reach its
 * page: one that continues, or the run's own message again. It is a message like any other of a person, so
 * the turn has all tools, and the transcript shows what was asked. Undefined while the session works, for every run but
 * the last one, for visitors who may not send messages, and if the message is not on the page or has no content.
 */
export function findFollowUp(state: SessionState, run: RunView): FollowUp | undefined {
  if (isWorking(state) || currentRun(state)?.runId !== run.runId || !mayDirect(state)) return undefined;
  const own = state.messages.filter(({ role, requestId }) => role === "user" && requestId === run.requestId);
  const texts = own.flatMap(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")));
  const text = texts.join("\n\n").trim();
  // Without its message, the agent would not know what to continue.
  if (run.state === "cancelled")
    return own.length > 0 ? { kind: "continue", text: CONTINUE, attachments: [] } : undefined;
  const attachments = own.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "attachment" ? [part.path] : [])),
  );
  return text === "" && attachments.length === 0 ? undefined : { kind: "retry", text, attachments };
}
