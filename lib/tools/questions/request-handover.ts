import { z } from "zod";
import type { InboxItemRow } from "#lib/session/store/inbox-store.ts";
import type { ToolServices } from "../services.ts";
import {
  defineTool,
  errorResult,
  ServiceFailure,
  type Tool,
  type ToolCall,
  type ToolResult,
  type Waiting,
  waitFor,
} from "../tool.ts";

const DAY_S = 86_400;
const NEED_MAX = 300;
const PROCEED_ADVICE =
  "Do not wait and do not ask again: continue without it, and say in your reply what is left to do.";

/**
 * `request_handover`: hands the browser over to a person, for what only a person can do in it. Works only in a turn that
 * may ask. Source: `wire.md`, Handovers.
 */
export const requestHandover = (
  services: Pick<ToolServices, "handovers" | "pages" | "control" | "browser">,
): Tool =>
  defineTool({
    name: "request_handover",
    description:
      "Hands the browser over to a person for what only a person can do: a login, a code, a captcha, a payment. Waits until they give it back. You are told the page and which fields changed, never values.",
    input: z.object({
      need: z
        .string()
        .trim()
        .min(1)
        .max(NEED_MAX)
        .describe("one sentence: what the person has to do in the page"),
      timeoutSeconds: z
        .int()
        .min(10)
        .max(7 * DAY_S)
        .default(DAY_S)
        .describe("86400 by default"),
    }),
    // A repeated call finds the item that the first call opened.
    idempotent: true,
    readOnly: false,
    changes: false,
    timeoutMs: 120_000,
    async execute({ need, timeoutSeconds }, call) {
      const { runId, sessionId, browserSessionId, callId } = call;
      if (!call.mayAskPeople || runId === null)
        return `No person can take over: this turn was not started by a person. ${PROCEED_ADVICE}`;
      const timeoutMs = call.answerTimeoutMs ?? timeoutSeconds * 1_000;
      const request = { sessionId, browserSessionId, runId, callId, need, timeoutMs };
      const item = await services.handovers
        .ask(request, endOfItem(call))
        // The host must know before the page is private, and before it is not.
        .then(async (asked) => {
          await services.browser.noteHandover(browserSessionId);
          return asked;
        })
        .catch((error: unknown) => {
          // The end may already be stored, so the engine repeats the call instead of showing the model a failure.
          throw new ServiceFailure(error);
        });
      if (item.state === "open")
        return waitFor({ kind: "person", subjects: [item.id], deadlineAt: item.expiresAt });
      return describeEnd(services, item, call);
    },
  });

/** The wait for the end of control comes after the item. How it ended does not concern the item. */
const endOfItem = ({ waitEndedBy, waitedFor = [] }: ToolCall) =>
  waitedFor.length > 0 ? waitEndedBy : undefined;

async function describeEnd(
  { pages, control }: Pick<ToolServices, "pages" | "control">,
  item: InboxItemRow,
  call: ToolCall,
): Promise<ToolResult | Waiting | string> {
  switch (item.state) {
    case "done": {
      // The person who has control may not be the one who has settled the item.
      if (control.holderOf(call.browserSessionId) !== undefined && call.waitEndedBy !== "message")
        return waitFor({ kind: "control", subjects: [], deadlineAt: null });
      return describePage(pages, item, call);
    }
    case "declined":
      return `The person did not do it: they declined. ${PROCEED_ADVICE}`;
    case "expired":
      return `No person took over in time. ${PROCEED_ADVICE}`;
    default:
      return "Interrupted by a message: the browser is no longer handed over. Read the message; ask again if you still need a person.";
  }
}

async function describePage(
  pages: ToolServices["pages"],
  { reason }: InboxItemRow,
  call: ToolCall,
): Promise<ToolResult> {
  const said = reason === null ? "" : ` Note from this person to you: ${JSON.stringify(reason)}`;
  const done = `A person has done it.${said}`;
  const release = await pages.hold(call);
  try {
    const page = await pages.run("request_handover", {}, call);
    return { ...page, content: [{ type: "text", text: done }, ...page.content] };
  } catch (error) {
    if (call.signal.aborted) throw error;
    return errorResult(
      `${done} The page could not be read: ${error instanceof Error ? error.message : error}`,
    );
  } finally {
    release();
  }
}
