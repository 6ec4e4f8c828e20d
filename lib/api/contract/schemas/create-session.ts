import { z } from "zod";
import { CALLBACK_EVENTS, SOURCES } from "#db/schema/unions.ts";
import { requestId, runId, sessionId, shareUrl, statusUrl, streamUrl } from "#lib/events/wire-values.ts";
import { readHttpUrl } from "#lib/text/http-url.ts";
import { budgetSchema } from "./budget.ts";
import { httpUrl, jsonObject, nameUpTo, textUpTo } from "./fields.ts";
import { interactionSchema } from "./interaction.ts";
import { messagesSchema } from "./message.ts";

const withoutCredentials = (text: string) => {
  const url = readHttpUrl(text);
  return url === undefined || (url.username === "" && url.password === "");
};

const isHttps = (text: string) => /^https:\/\//i.test(text) && readHttpUrl(text) !== undefined;

/**
 * The callback of a session. The handler checks later whether the host of the URL is allowed. Source: specification,
 * Callback object.
 */
const callbackSchema = z
  .strictObject({
    url: httpUrl.refine(withoutCredentials, { error: "must not contain credentials" }).meta({
      description: "URL that receives events by POST. Loopback, private and link-local hosts are refused.",
      examples: ["https://receiver.example/hook"],
    }),
    secret: nameUpTo(1_024)
      .optional()
      .meta({ description: "When present, every delivery is signed with HMAC-SHA256.", examples: ["shh"] }),
    events: z
      .array(z.enum(CALLBACK_EVENTS))
      .min(1, { error: `must name at least one of ${CALLBACK_EVENTS.join(", ")}` })
      .transform((events) => CALLBACK_EVENTS.filter((event) => events.includes(event)))
      .optional()
      .meta({
        description:
          "Events to deliver. By default `run.started` and `run.completed`; `run.waiting` and `run.resumed` are delivered only if they are named.",
      }),
  })
  .meta({ id: "Callback", description: "Webhook registration for run lifecycle events." });

const MCP_SERVER_ID = /^[a-z0-9][a-z0-9_-]{0,31}$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a header value must not contain.
const HEADER_VALUE = /^[^\u0000-\u0008\u000a-\u001f\u007f\u0100-\uffff]{0,8192}$/;
const MCP_SERVERS_MAX = 10;
const MCP_HEADERS_MAX = 20;

/** Checks each header separately, so that an error names the invalid header. */
const headersSchema = z
  .record(z.string(), z.string())
  .superRefine((headers, context) => {
    if (Object.keys(headers).length > MCP_HEADERS_MAX)
      context.addIssue({ code: "custom", message: `must hold at most ${MCP_HEADERS_MAX} headers` });
    for (const [name, value] of Object.entries(headers)) {
      if (!HEADER_NAME.test(name))
        context.addIssue({ code: "custom", path: [name], message: "is not a valid header name" });
      else if (!HEADER_VALUE.test(value))
        context.addIssue({ code: "custom", path: [name], message: "is not a valid header value" });
    }
  })
  .meta({
    description:
      "Request headers for this server. They are encrypted at rest and sent only to this server. No response contains them.",
    maxProperties: MCP_HEADERS_MAX,
    examples: [{ Authorization: "Bearer …" }],
  });

/** How the service gets access tokens for a tool server. Source: `wire.md`, POST /api/session. */
const mcpAuthSchema = z
  .strictObject({
    type: z.enum(["client_credentials"]),
    clientId: nameUpTo(1_024),
    clientSecret: nameUpTo(4_096),
    tokenUrl: z
      .string()
      .max(8_192, { error: "must be at most 8,192 characters" })
      .refine(isHttps, { error: "must be https" })
      .refine(withoutCredentials, { error: "must not contain credentials" })
      .optional()
      .meta({
        format: "uri",
        description:
          "The token endpoint. Omit it to follow the metadata of the tool server, which then chooses who gets the client's secret.",
        examples: ["https://login.example/token"],
      }),
    scope: nameUpTo(1_024)
      .optional()
      .meta({ examples: ["deals:read"] }),
  })
  .meta({
    id: "McpAuth",
    description:
      "OAuth client credentials. They are encrypted at rest and sent only to the token endpoint; access tokens are sent only to this server. No response contains them.",
  });

const mcpServerSchema = z
  .strictObject({
    url: z
      .string()
      .max(8_192, { error: "must be at most 8,192 characters" })
      .refine(isHttps, { error: "must be https" })
      .refine(withoutCredentials, { error: "must not contain credentials; send them in headers" })
      .meta({ format: "uri", pattern: "^[Hh][Tt][Tt][Pp][Ss]://", examples: ["https://tools.example/mcp"] }),
    type: z
      .enum(["http", "sse"])
      .optional()
      .meta({ default: "http", description: "Transport of the server. `http` means Streamable HTTP." }),
    headers: headersSchema.optional(),
    auth: mcpAuthSchema.optional(),
  })
  .meta({
    id: "McpServer",
    description: "A remote tool server. Its tools appear to the agent as `mcp_<id>__<tool>`.",
  });

/**
 * Tool servers by id. The entry `builtin` adds no server; it pins the built-in server to a URL. Source: specification,
 * MCP servers, rules 1 and 2; `wire.md`, POST /api/session.
 */
const mcpServersSchema = z
  .record(z.string(), mcpServerSchema)
  .superRefine((servers, context) => {
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
    if (builtin?.auth !== undefined)
      context.addIssue({
        code: "custom",
        path: ["builtin", "auth"],
        message: "not allowed: the session's own user token is the credential",
      });
    for (const [id, { auth, headers = {} }] of Object.entries(servers))
      if (auth && Object.keys(headers).some((name) => name.toLowerCase() === "authorization"))
        context.addIssue({
          code: "custom",
          path: [id, "auth"],
          message: "not allowed together with the header Authorization",
        });
    if (builtin?.type === "sse")
      context.addIssue({
        code: "custom",
        path: ["builtin", "type"],
        message: "must not be sse: the built-in server speaks http",
      });
  })
  .meta({
    description:
      "Remote tool servers by id, at most 10. The id `builtin` does not count and adds no server: its `url` replaces the deployment's URL of the built-in server. `headers`, `auth` and `type: sse` are refused for it.",
    propertyNames: { type: "string", pattern: MCP_SERVER_ID.source },
    examples: [{ crm: { url: "https://tools.example/mcp" } }],
  });

const TOOL_NAMES_MAX = 128;
const toolNames = z
  .array(
    z.string().min(1, { error: "must not be empty" }).max(256, { error: "must be at most 256 characters" }),
  )
  .max(TOOL_NAMES_MAX, { error: `must hold at most ${TOOL_NAMES_MAX} names` });

/** A misspelt entry would approve nothing, and the calls would run unseen. So it is refused, other than in the other lists. */
const toolNamesToApprove = toolNames.check(({ value, issues }) => {
  for (const [index, name] of value.entries()) {
    const message = name.startsWith("@")
      ? name === "@destructive" || "must be @destructive, or a name that does not begin with @"
      : !name.slice(0, -1).includes("*") || "may have a * only at its end";
    if (message !== true) issues.push({ code: "custom", input: name, path: [index], message });
  }
});

/** The tool policy of a session. Source: specification, Tools object. */
const toolsSchema = z
  .strictObject({
    include: toolNames.optional().meta({
      description:
        "Tools to add that the analysis profile leaves out. Has effect only with `outputSchema`. The analysis profile is the reduced set of tools of a session with an `outputSchema`.",
      examples: [["screenshot"]],
    }),
    exclude: toolNames.optional().meta({
      description:
        "Tools to remove for the whole session. Wins over every other rule. A trailing `*` matches any suffix.",
      examples: [["run_shell", "mcp_crm__*"]],
    }),
    externalTurnExclude: toolNames.optional().meta({
      description:
        "Tools to remove on turns that no person started from the session page or the landing page. A trailing `*` matches any suffix.",
      examples: [["elicit_user_input"]],
    }),
    approve: toolNamesToApprove.optional().meta({
      description:
        "Tools whose calls wait for a person's approval. A trailing `*` matches any suffix. `@destructive` stands for tools of the caller's servers that are not declared `destructiveHint: false`. Where no person can be asked, such calls are denied at once.",
      examples: [["publish_variant", "@destructive"]],
    }),
  })
  .meta({ id: "ToolPolicy", description: "Tool policy of the session." });

/** The capabilities of a session. Source: specification, Capabilities. */
const capabilitiesSchema = z
  .strictObject({
    browser: z
      .boolean()
      .optional()
      .meta({ default: true, description: "`false` removes the browser and its tools." }),
    sandbox: z.boolean().optional().meta({
      default: true,
      description:
        "`false` removes the workspace and its tools. The browser runs in the sandbox, so the browser and its tools are removed too.",
    }),
  })
  .refine((capabilities) => !(capabilities.sandbox === false && capabilities.browser === true), {
    error:
      "sandbox: false cannot be combined with browser: true, because the browser runs inside the sandbox",
  })
  .meta({
    id: "Capabilities",
    not: {
      properties: { sandbox: { const: false }, browser: { const: true } },
      required: ["sandbox", "browser"],
    },
  });

const liveCount = z
  .number({ error: "must be an integer >= 0" })
  .refine((count) => Number.isSafeInteger(count) && count >= 0, { error: "must be an integer >= 0" })
  .meta({ shownAs: { type: "integer", minimum: 0 }, examples: [2] });

/**
 * Limits on live sub-agents. The handler checks that the limits do not exceed the deployment's ceilings. Source:
 * specification, Rules for profile fields, 5 to 7.
 */
const delegationSchema = z
  .strictObject({
    maxLiveChildren: liveCount.optional().meta({
      description:
        "Maximum number of sub-agents that are live at the same time. A value above the deployment's ceiling is refused. Omit for the ceiling.",
    }),
    maxLiveBrowsers: liveCount.optional().meta({
      description:
        "Maximum number of live sub-agents with their own browser. A value above the deployment's ceiling or above `maxLiveChildren` is refused. Omit for the smaller of the two.",
    }),
  })
  .meta({
    id: "DelegationCaps",
    description:
      "Limits on live sub-agents, that is, sub-agents whose turn has not ended. They have no effect unless `subAgents` is enabled.",
  });

/** Body of `POST /api/session`. Source: specification, Session creation request. */
export const createSessionSchema = z
  .strictObject({
    messages: messagesSchema,
    targetUrl: httpUrl.optional().meta({ description: "Page to work on." }),
    targetPageUrls: z
      .array(httpUrl)
      .max(1_000, { error: "must hold at most 1,000 URLs" })
      .optional()
      .meta({ description: "Additional pages to work on." }),
    metadata: jsonObject.optional().meta({
      description: "Opaque caller metadata, stored with the session.",
      examples: [{ ticket: "QA-118" }],
    }),
    idempotencyKey: nameUpTo(255)
      .optional()
      .meta({
        description:
          "A replay with the same key and an equal body returns the original session and creates no duplicate. The same key with a different body is refused with 422. Sessions of different owners do not share keys.",
        examples: ["order-4711"],
      }),
    userId: nameUpTo(255)
      .optional()
      .meta({ description: "Stable caller identity, used to attribute turns.", examples: ["user-7"] }),
    source: z.enum(SOURCES).optional().meta({
      default: "api",
      description:
        "Attribution of the session, which every event contains. No value makes a turn count as started by a person.",
    }),
    callback: callbackSchema.optional(),
    outputSchema: jsonObject.optional().meta({
      description:
        "JSON Schema of the result, at most 64 KiB. Every turn ends with a JSON value that is valid against the schema, or with a failed deliverable. The root of the schema must have the type `object`. The schema must accept at least one finite JSON value and compile within the time limit. While too many schemas of the same owner are being checked, further ones are refused with 429.",
      examples: [{ type: "object", properties: { title: { type: "string" } }, required: ["title"] }],
    }),
    doneSchema: z
      .undefined({ error: "is retired; send the schema as outputSchema" })
      .optional()
      .meta({ shownAs: { not: {} }, deprecated: true, description: "Retired. Use `outputSchema`." }),
    tools: toolsSchema.optional(),
    systemPrompt: textUpTo(20_000)
      .optional()
      .meta({
        description: "Caller instructions, appended to the agent's base prompt.",
        examples: ["Answer in German."],
      }),
    mcpServers: mcpServersSchema.optional(),
    capabilities: capabilitiesSchema.optional(),
    subAgents: z.boolean().optional().meta({
      default: false,
      description:
        'Lets the agent delegate to sub-agents. With `source: "web"`, `true` has an effect only if the deployment\'s feature flag is on for the `userId`.',
    }),
    delegation: delegationSchema.optional(),
    interaction: interactionSchema.optional(),
    budget: budgetSchema.optional(),
  })
  .meta({
    id: "CreateSession",
    description:
      "A session to create. Later requests cannot change these settings, except `budget` and the secret of `callback`.",
  });

export type CreateSessionInput = z.output<typeof createSessionSchema>;

/** Response of `POST /api/session`. Source: specification, Session creation response. */
export const sessionCreatedSchema = z
  .object({ success: z.literal(true), sessionId, requestId, runId, shareUrl, statusUrl, streamUrl })
  .meta({ id: "SessionCreated" });
