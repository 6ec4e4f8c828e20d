import type { CallOf } from "../call.ts";
import type { Answer } from "../route.ts";
import type { ApiServices } from "../services.ts";

/**
 * `POST /api/sessions/:sessionId/mcp-token`: the session's user token, with which another agent uses the tools that the
 * session's policy leaves. Nothing is stored: the token is valid until it expires, the session is deleted, or the API key
 * that asked for it is revoked.
 */
export async function createMcpToken(
  { builtinMcp }: ApiServices,
  { session, caller }: CallOf<"createMcpToken">,
): Promise<Answer> {
  const { token, url, expiresAt } = builtinMcp.issueToken(session.id, caller.keyId);
  return { ok: true, status: 201, body: { success: true, token, url, expiresAt: expiresAt.toISOString() } };
}
