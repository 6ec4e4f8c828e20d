import { z } from "zod";
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

export const mcpTokenOperations = {
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
