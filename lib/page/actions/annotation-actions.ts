import type { SessionSnapshot } from "../state/session-snapshot.ts";
import { type ActionOutcome, callAction } from "./call-action.ts";

/** What people can do with annotations. Source: `wire.md`, Annotations. */
type AnnotationActions = {
  /** Sends open annotations to the agent, with a message that has no other text. */
  send: (ids: readonly string[]) => Promise<ActionOutcome<{ requestId: string; runId: string }>>;
  /** Resolves or reopens an annotation. */
  setStatus: (id: string, status: "open" | "resolved") => Promise<ActionOutcome<unknown>>;
  remove: (id: string) => Promise<ActionOutcome<unknown>>;
  /** Makes the service look for the elements of annotations on the page that the browser shows. */
  locate: () => Promise<ActionOutcome<unknown>>;
};

/** Creates the actions for the annotations of a session. */
export function createAnnotationActions(
  { planning: session, actions }: Pick<SessionSnapshot["paths"], "planning" | "actions">,
  fetcher: typeof fetch,
): AnnotationActions {
  return {
    send: (annotations) =>
      callAction(fetcher, "POST", `${actions}/messages`, { text: "", mode: "queue", annotations }),
    setStatus: (id, status) => callAction(fetcher, "PATCH", `${session}/annotations/${id}`, { status }),
    remove: (id) => callAction(fetcher, "DELETE", `${session}/annotations/${id}`),
    locate: () => callAction(fetcher, "POST", `${session}/annotations/locate`, {}),
  };
}
