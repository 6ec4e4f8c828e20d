import { z } from "zod";

/** The session's user token for an external agent, and the server that accepts it. */
export const mcpTokenSchema = z
  .object({
    success: z.literal(true),
    token: z
      .string()
      .meta({ description: "Short-lived secret. Send it as `Authorization: Bearer <token>`." }),
    url: z
      .string()
      .meta({ description: "URL of the built-in MCP server. Only this server accepts the token." }),
    expiresAt: z
      .string()
      .meta({ description: "Expiry. ISO 8601, UTC. You can create a new token at any time." }),
  })
  .meta({ id: "McpToken" });
