import { z } from "zod";
import { CALLBACK_EVENTS, SOURCES } from "#db/schema/unions.ts";
import { httpUrl, jsonObject, nameUpTo, readHttpUrl, textUpTo } from "./fields.ts";
import { messagesSchema } from "./message.ts";

const withoutCredentials = (text: string) => {
  const url = readHttpUrl(text);
  return url === undefined || (url.username === "" && url.password === "");
};

/** Source: specification, Callback object. The host is checked against the network guard apart from this. */
const callbackSchema = z.strictObject({
  url: httpUrl.refine(withoutCredentials, { error: "must not contain credentials" }),
  secret: nameUpTo(1_024).optional(),
  events: z
    .array(z.enum(CALLBACK_EVENTS))
    .min(1, { error: `must name at least one of ${CALLBACK_EVENTS.join(", ")}` })
    .transform((events) => CALLBACK_EVENTS.filter((event) => events.includes(event)))
    .optional(),
});

const MCP_SERVER_ID = /^[a-z0-9][a-z0-9_-]{0,31}$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a header value is defined by the controls it may not hold.
const HEADER_VALUE = /^[^\u0000-\u0008\u000a-\u001f\u007f\u0100-\uffff]{0,8192}$/;
const MCP_SERVERS_MAX = 10;
const MCP_HEADERS_MAX = 20;

/** An object whose keys are checked one by one, so that an error names the key. */
const headersSchema = z.record(z.string(), z.string()).superRefine((headers, context) => {
  if (Object.keys(headers).length > MCP_HEADERS_MAX)
    context.addIssue({ code: "custom", message: `must hold at most ${MCP_HEADERS_MAX} headers` });
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name))
      context.addIssue({ code: "custom", path: [name], message: "is not a valid header name" });
    else if (!HEADER_VALUE.test(value))
      context.addIssue({ code: "custom", path: [name], message: "is not a valid header value" });
  }
});

const mcpServerSchema = z.strictObject({
  url: z
    .string()
    .max(8_192, { error: "must be at most 8,192 characters" })
    .refine((text) => /^https:\/\//i.test(text) && readHttpUrl(text) !== undefined, {
      error: "must be https",
    })
    .refine(withoutCredentials, { error: "must not contain credentials; send them in headers" }),
  type: z.enum(["http", "sse"]).optional(),
  headers: headersSchema.optional(),
});

/** Source: specification, MCP servers, rules 1 and 2. `builtin` is a pin, not a server (`wire.md`). */
const mcpServersSchema = z.record(z.string(), mcpServerSchema).superRefine((servers, context) => {
  const ids = Object.keys(servers);
  for (const id of ids.filter((id) => !MCP_SERVER_ID.test(id)))
    context.addIssue({
      code: "custom",
      path: [id],
      message: "the server id must match [a-z0-9][a-z0-9_-]{0,31}",
    });
  if (ids.filter((id) => id !== "builtin").length > MCP_SERVERS_MAX)
    context.addIssue({ code: "custom", message: `must hold at most ${MCP_SERVERS_MAX} servers` });
  const builtin = Object.hasOwn(servers, "builtin") ? servers.builtin : undefined;
  if (builtin?.headers !== undefined)
    context.addIssue({
      code: "custom",
      path: ["builtin", "headers"],
      message: "not allowed: the session's own user token is the credential",
    });
  if (builtin?.type === "sse")
    context.addIssue({
      code: "custom",
      path: ["builtin", "type"],
      message: "must not be sse: the built-in server speaks http",
    });
});

const TOOL_NAMES_MAX = 128;
const toolNames = z
  .array(
    z.string().min(1, { error: "must not be empty" }).max(256, { error: "must be at most 256 characters" }),
  )
  .max(TOOL_NAMES_MAX, { error: `must hold at most ${TOOL_NAMES_MAX} names` });

/** Source: specification, Tools object. */
const toolsSchema = z.strictObject({
  include: toolNames.optional(),
  exclude: toolNames.optional(),
  externalTurnExclude: toolNames.optional(),
});

/** Source: specification, Capabilities. */
const capabilitiesSchema = z
  .strictObject({ browser: z.boolean().optional(), sandbox: z.boolean().optional() })
  .refine((capabilities) => !(capabilities.sandbox === false && capabilities.browser === true), {
    error:
      "sandbox: false cannot be combined with browser: true, because the browser runs inside the sandbox",
  });

const liveCount = z
  .number({ error: "must be an integer >= 0" })
  .refine((count) => Number.isSafeInteger(count) && count >= 0, { error: "must be an integer >= 0" });

/** Source: specification, Rules for profile fields, 5 to 7; ceilings are checked apart, they belong to the deployment. */
const delegationSchema = z.strictObject({
  maxLiveChildren: liveCount.optional(),
  maxLiveBrowsers: liveCount.optional(),
});

/** Body of `POST /api/session`. Source: specification, Session creation request. */
export const createSessionSchema = z.strictObject({
  messages: messagesSchema,
  targetUrl: httpUrl.optional(),
  targetPageUrls: z.array(httpUrl).max(1_000, { error: "must hold at most 1,000 URLs" }).optional(),
  metadata: jsonObject.optional(),
  idempotencyKey: nameUpTo(255).optional(),
  userId: nameUpTo(255).optional(),
  source: z.enum(SOURCES).optional(),
  callback: callbackSchema.optional(),
  outputSchema: jsonObject.optional(),
  doneSchema: z.undefined({ error: "is retired; send the schema as outputSchema" }).optional(),
  tools: toolsSchema.optional(),
  systemPrompt: textUpTo(20_000).optional(),
  mcpServers: mcpServersSchema.optional(),
  capabilities: capabilitiesSchema.optional(),
  subAgents: z.boolean().optional(),
  delegation: delegationSchema.optional(),
});

export type CreateSessionInput = z.output<typeof createSessionSchema>;

/** Answer of `POST /api/session`. Source: specification, Session creation response. */
export const sessionCreatedSchema = z.object({
  success: z.literal(true),
  sessionId: z.string(),
  requestId: z.string(),
  runId: z.string(),
  shareUrl: z.string(),
  statusUrl: z.string(),
  streamUrl: z.string(),
});
