import type { CallOf } from "../call.ts";
import type { Answer } from "../route.ts";
import type { ApiServices } from "../services.ts";

/**
 * `POST /api/sessions/:sessionId/mcp-token`: the session's user token, with which somebody else's agent uses what the
 * session's policy leaves of its tools. Nothing is stored: the token is good until it ends, or the session is deleted.
 */
export async function createMcpToken(
  { builtinMcp }: ApiServices,
  { session }: CallOf<"createMcpToken">,
): Promise<Answer> {
  const { token, url, expiresAt } = builtinMcp.issueToken(session.id);
  return { ok: true, status: 201, body: { success: true, token, url, expiresAt: expiresAt.toISOString() } };
}
