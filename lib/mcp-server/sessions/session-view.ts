import { z } from "zod";
import { INBOX_KINDS, MESSAGE_ROLES, SESSION_STATES } from "#db/schema/unions.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { shorten } from "#lib/text/shorten.ts";
import type { ApiResult, SessionApi } from "./session-api.ts";

const ITEMS_MAX = 10;
const ITEM_TEXT_MAX = 4_000;
const MESSAGE_TEXT_MAX = 8_000;
const MESSAGES_TEXT_MAX = 40_000;
const VALUE_MAX = 100_000;

const pageUrlSchema = z.string().meta({
  description:
    "Link to the page of the session, with the live view of its browser. A person who has it may use the session as far as this API key may.",
});

const itemSchema = z.object({
  itemId: z.string(),
  kind: z.enum(INBOX_KINDS),
  title: z.string(),
  body: z.string(),
  options: z
    .array(z.string())
    .optional()
    .meta({ description: "Answers to choose from; another text is accepted too." }),
  form: z.unknown().optional().meta({ description: "JSON Schema of the form to fill in." }),
  call: z
    .object({
      toolName: z.string(),
      input: z.string().meta({ description: "The exact arguments as JSON text." }),
      isCut: z.boolean().meta({ description: "Whether `input` shows only the beginning." }),
    })
    .optional()
    .meta({ description: "The tool call to approve." }),
  answerUrl: z
    .string()
    .optional()
    .meta({ description: "Link to a page on which a person settles the item without an account." }),
  expiresAt: z.string().nullable(),
});

/** What a session looks like over MCP, with a bound for each part. */
export const sessionViewSchema = z.object({
  sessionId: z.string(),
  title: z.string(),
  state: z.enum(SESSION_STATES),
  stateReason: z.string().nullable(),
  isRunning: z.boolean().meta({ description: "Whether a turn runs, waits or is queued." }),
  pageUrl: pageUrlSchema,
  targetUrl: z.string().nullable(),
  result: z
    .object({
      status: z.enum(["pending", "ready", "failed"]),
      value: z
        .unknown()
        .optional()
        .meta({ description: "The result, in the form of the session's `outputSchema`." }),
      isValueLeftOut: z
        .boolean()
        .optional()
        .meta({ description: "True if the result has more than 100,000 characters. Read it over HTTP." }),
      error: z.string().optional(),
    })
    .nullable()
    .meta({ description: "The structured result. Null in a session without an `outputSchema`." }),
  waitingFor: z.array(itemSchema).meta({ description: "What waits for a person. Settle it with `answer`." }),
  messages: z.array(
    z.object({
      seq: z.int().meta({ description: "Pass the highest as `afterMessage` to read only newer messages." }),
      role: z.enum(MESSAGE_ROLES),
      text: z.string(),
      isCut: z.boolean().meta({ description: "Whether the text is cut." }),
    }),
  ),
});

type SessionView = z.output<typeof sessionViewSchema>;

/** Schema of the summary of a session in lists. */
export const sessionSummarySchema = sessionViewSchema.pick({
  sessionId: true,
  title: true,
  state: true,
  stateReason: true,
  isRunning: true,
  pageUrl: true,
  targetUrl: true,
});

type Summary = Extract<ApiResult<"listSessions">, { ok: true }>["body"]["data"][number];
type Item = Extract<ApiResult<"listSessionInbox">, { ok: true }>["body"]["data"][number];
type Message = Extract<ApiResult<"listMessages">, { ok: true }>["body"]["data"][number];
type Status = Extract<ApiResult<"readAgentStatus">, { ok: true }>["body"];

/** Converts a session of the HTTP interface to its summary over MCP. */
export const toSummary = ({ id, shareUrl, ...session }: Summary, baseUrl: string) => ({
  sessionId: id,
  title: session.title,
  state: session.state,
  stateReason: session.stateReason,
  isRunning: session.turnState !== "idle",
  pageUrl: toPageUrl(shareUrl, baseUrl),
  targetUrl: session.targetUrl,
});

/** Returns the absolute link to the page of a session. */
export const toPageUrl = (shareUrl: string, baseUrl: string): string => new URL(shareUrl, baseUrl).href;

/** Which messages of a session to read: the newest ones, or the oldest after `after`. */
type MessageRange = { after?: number | undefined; count: number };

/**
 * Reads a session with what waits for a person, its result and its messages. Each part comes from the operation of the
 * HTTP interface that returns it, with the caller's credential.
 */
export async function readSessionView(
  api: SessionApi,
  sessionId: string,
  range: MessageRange,
  signal: AbortSignal,
): Promise<{ ok: true; view: SessionView } | Extract<ApiResult<"readSession">, { ok: false }>> {
  const params = { sessionId };
  const session = await api.call("readSession", { params, signal });
  if (!session.ok) return session;
  const status = await api.call("readAgentStatus", { params, signal });
  if (!status.ok) return status;
  const items = await api.call("listSessionInbox", {
    params,
    query: { state: "open", limit: ITEMS_MAX },
    signal,
  });
  if (!items.ok) return items;
  const messages = range.count === 0 ? undefined : await readMessages(api, sessionId, range, signal);
  if (messages?.ok === false) return messages;
  return {
    ok: true,
    view: {
      ...toSummary(session.body.session, api.services.settings.baseUrl),
      result: toResult(status.body.deliverable),
      waitingFor: items.body.data.map(toItem),
      messages: messages ? cutMessages(messages.body.data) : [],
    },
  };
}

async function readMessages(
  { call, services }: SessionApi,
  sessionId: string,
  { after, count }: MessageRange,
  signal: AbortSignal,
) {
  // The operation lists messages from a number on. `readSession` has checked that the caller may read this session.
  const newest = after === undefined ? ((await findSession(services.db, sessionId))?.messageSeq ?? 0) : 0;
  const cursor = after ?? Math.max(0, newest - count);
  return call("listMessages", { params: { sessionId }, query: { cursor, limit: count }, signal });
}

function toResult(deliverable: Status["deliverable"]): SessionView["result"] {
  if (deliverable === null) return null;
  if (deliverable.status === "failed")
    return { status: "failed", error: shorten(deliverable.error, ITEM_TEXT_MAX) };
  if (deliverable.status === "pending") return { status: "pending" };
  const { value } = deliverable;
  return JSON.stringify(value).length > VALUE_MAX
    ? { status: "ready", isValueLeftOut: true }
    : { status: "ready", value };
}

function toItem({ id, kind, title, body, options, form, call, answerUrl, expiresAt }: Item) {
  const input = call && (call.inputPreview ?? JSON.stringify(call.input) ?? "");
  return {
    itemId: id,
    kind,
    title,
    body: shorten(body, ITEM_TEXT_MAX),
    ...(options && { options }),
    ...(form && { form }),
    ...(call &&
      input !== undefined && {
        call: {
          toolName: call.toolName,
          input: shorten(input, ITEM_TEXT_MAX),
          isCut: call.inputPreview !== undefined || input.length > ITEM_TEXT_MAX,
        },
      }),
    ...(answerUrl !== undefined && { answerUrl }),
    expiresAt,
  };
}

/** Shortens messages to the limit of one message and of all messages. Of a message, only its texts are shown. */
function cutMessages(messages: Message[]): SessionView["messages"] {
  let left = MESSAGES_TEXT_MAX;
  const shown = messages.toReversed().map(({ seq, role, parts }) => {
    const whole = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
    const text = shorten(whole, Math.max(1, Math.min(MESSAGE_TEXT_MAX, left)));
    left -= text.length;
    return { seq, role, text, isCut: text.length < whole.length };
  });
  return shown.toReversed();
}

/** Describes a session in text, for clients and models that do not read structured results. */
export function describeView(view: SessionView): string {
  const { sessionId, title, pageUrl, result, waitingFor, messages } = view;
  const lines = [`${sessionId} (${oneLineOf(title)}): ${describeState(view)}`, `Page: ${pageUrl}`];
  if (waitingFor.length > 0)
    lines.push("", "Waits for a person; settle with `answer`:", ...waitingFor.map(describeItem));
  if (result) lines.push("", `Result: ${describeResult(result)}`);
  for (const { seq, role, text } of messages) if (text !== "") lines.push("", `[${seq}] ${role}: ${text}`);
  return lines.join("\n");
}

const oneLineOf = (text: string) => text.replaceAll(/\s+/g, " ");

/** Describes the state of a session with its reason. */
export const describeState = ({ state, stateReason }: Pick<SessionView, "state" | "stateReason">): string =>
  stateReason === null ? state : `${state}: ${stateReason}`;

function describeItem({
  itemId,
  kind,
  title,
  body,
  options,
  form,
  call,
  expiresAt,
}: SessionView["waitingFor"][number]) {
  const about = [
    body === title ? undefined : body,
    options && `Options: ${options.join(", ")}`,
    form === undefined ? undefined : `Form: ${JSON.stringify(form)}`,
    call && `Call: ${call.toolName} ${call.input}`,
    expiresAt === null ? undefined : `Until ${expiresAt}`,
  ].filter((text) => text !== undefined);
  return [`- ${itemId} (${kind}): ${title}`, ...about.map((text) => `  ${text}`)].join("\n");
}

function describeResult({
  status,
  value,
  isValueLeftOut,
  error,
}: NonNullable<SessionView["result"]>): string {
  if (isValueLeftOut) return "ready, but too large to show here";
  if (status === "ready") return JSON.stringify(value);
  return error === undefined ? status : `${status}: ${error}`;
}
