import { z } from "zod";
import { KEY_SCOPES } from "#lib/keys/key-scopes.ts";
import { defineOperation, KEY_AUTH, type Operation } from "../operation.ts";

/** A user token of the session for an external agent, and the URL of the server that accepts the token. */
const mcpTokenSchema = z
  .object({
    success: z.literal(true),
    token: z
      .string()
      .meta({ description: "Short-lived secret. Send it as `Authorization: Bearer <token>`." }),
    url: z
      .string()
      .meta({ description: "URL of the built-in MCP server. Only this server accepts the token." }),
    expiresAt: z.string().meta({
      description: "When the token expires. ISO 8601, UTC. You can create a new token at any time.",
    }),
  })
  .meta({ id: "McpToken" });

/** Metadata of the built-in MCP server as a protected resource. Source: RFC 9728, section 2. */
const mcpResourceSchema = z
  .object({
    resource: z.string().meta({
      description: "URL of the built-in MCP server.",
      examples: ["https://service.example/api/mcp"],
    }),
    resource_name: z.string().meta({ examples: ["Agent Session Service"] }),
    bearer_methods_supported: z.array(z.literal("header")).meta({ examples: [["header"]] }),
    scopes_supported: z.array(z.enum(KEY_SCOPES)).meta({ examples: [KEY_SCOPES] }),
    resource_documentation: z.string().meta({ examples: ["https://service.example/docs"] }),
  })
  .meta({ id: "McpResource" });

export const mcpTokenOperations = {
  readMcpResource: defineOperation({
    method: "GET",
    path: "/.well-known/oauth-protected-resource/api/mcp",
    summary: "Describe how clients of the built-in MCP server authenticate",
    description:
      "Metadata of RFC 9728, which a 401 of `/api/mcp` names in `WWW-Authenticate`. There is no authorization server: send an API key, or a session's user token, as `Authorization: Bearer`.",
    auth: { kind: "none" },
    answers: { 200: mcpResourceSchema },
  }),
  createMcpToken: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/mcp-token",
    summary: "Create a token for the built-in MCP server",
    description:
      "Gives an external agent access to tools of the session. With the token, an MCP client connects to the built-in server at `url` over Streamable HTTP. The server offers the client its own utilities and the session's tools that the tool policy allows on a turn that no person started. It does not offer `elicit_user_input`, the tools for planning, requirements, delegation and skills, the tools for test runs, or the tools that act for the whole session (`publish_variant`, `deploy_landing_page`, `publish_qa_report`, `import_legacy_session`). The token also ends when the session is deleted, or when the API key of this request is revoked, expires or loses `sessions:write`.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 201: mcpTokenSchema },
  }),
} as const satisfies Record<string, Operation>;
