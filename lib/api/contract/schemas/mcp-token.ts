import { z } from "zod";

/** The session's user token for somebody else's agent, and where it is good. */
export const mcpTokenSchema = z
  .object({
    success: z.literal(true),
    token: z
      .string()
      .meta({ description: "Sent as `Authorization: Bearer <token>`; a secret, and short-lived." }),
    url: z.string().meta({ description: "The built-in MCP server: the one address that the token is for." }),
    expiresAt: z.string().meta({ description: "ISO 8601, UTC. A new one can be asked for at any time." }),
  })
  .meta({ id: "McpToken" });
