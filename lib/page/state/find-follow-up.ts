import { currentRun, isWorking, mayDirect, type SessionState } from "./session-state.ts";
import type { RunView } from "./view-types.ts";

/** The message that lets the agent continue after a stop. */
const CONTINUE = "Continue.";

/** A message to send, with the paths of its files. */
type FollowUp = { kind: "continue" | "retry"; text: string; attachments: string[] };

/**
 * Finds the message that a person can send with one click after a run that was stopped, failed or did not reach its
 * page: either "Continue.", or the run's own message again. The new turn is an ordinary turn of a person, with all tools.
 *
 * @returns undefined while the session works, for runs before the last one, and for visitors who may not send messages.
 * Also undefined if the page does not show the run's message, or the message has no content.
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
  if (text !== "" || attachments.length > 0) return { kind: "retry", text, attachments };
  // The agent has the annotations, because the message stays in the transcript.
  const isAnnotated = own.some(({ parts }) => parts.some(({ type }) => type === "annotation"));
  return isAnnotated ? { kind: "continue", text: CONTINUE, attachments: [] } : undefined;
}
