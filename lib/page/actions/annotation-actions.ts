import type { MarkedPart, MarkedTarget, SoughtAnnotations } from "#lib/client/wire.ts";
import type { SessionSnapshot } from "../state/session-snapshot.ts";
import { type ActionOutcome, callAction, pick } from "./call-action.ts";

/** What the page has where a person marked something, with the fields of a note. */
export type Target = NonNullable<MarkedTarget["target"]>;

/** What people can do with annotations. Source: `wire.md`, Annotations. */
export type AnnotationActions = {
  /** Sends open annotations to the agent, with a message that has no other text. */
  send: (ids: readonly string[]) => Promise<ActionOutcome<{ requestId: string; runId: string }>>;
  /** Resolves or reopens an annotation. */
  setStatus: (id: string, status: "open" | "resolved") => Promise<ActionOutcome<unknown>>;
  remove: (id: string) => Promise<ActionOutcome<unknown>>;
  /** Makes the service look for the elements of annotations on the page that the browser shows. */
  locate: () => Promise<ActionOutcome<SoughtAnnotations["data"]>>;
  /** Asks what the page has where a person marks something; null if there is nothing. */
  describe: (part: MarkedPart) => Promise<ActionOutcome<Target | null>>;
  /** Submits a comment on what a person has marked. */
  submit: (target: Target, comment: string) => Promise<ActionOutcome<unknown>>;
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
    locate: async () =>
      pick<"data", SoughtAnnotations["data"]>(
        await callAction(fetcher, "POST", `${session}/annotations/locate`, {}),
        "data",
      ),
    describe: async (part) =>
      pick<"target", Target | null>(
        await callAction(fetcher, "POST", `${session}/annotations/target`, part),
        "target",
      ),
    submit: ({ page, note }, comment) =>
      callAction(fetcher, "POST", `${actions}/annotations`, {
        event: "submit",
        output: summarize(note, comment, page),
        annotations: [{ ...note, comment }],
        url: page.url,
      }),
  };
}

/** Writes a note as Markdown, as the overlay of the page does. */
const summarize = (
  { element, selector, frame, quote }: Target["note"],
  comment: string,
  page: Target["page"],
) =>
  [
    `## Annotations: ${page.title || page.url}`,
    `**URL:** ${page.url}\n`,
    `### 1. ${element}`,
    ...(frame === undefined ? [] : [`**Frame:** \`${frame}\``]),
    `**Selector:** \`${selector}\``,
    ...(quote === undefined ? [] : [`**Selected text:** ${quote}`]),
    `**Comment:** ${comment}\n`,
  ].join("\n");
