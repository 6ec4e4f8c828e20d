import { type ElicitResult, McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { isGuardedFetchError } from "#lib/net/fetch/guarded-fetch-error.ts";
import { McpFailure, readHttpStatus, UNSUPPORTED_REVISION } from "../mcp-error.ts";
import type { McpLimits } from "../mcp-limits.ts";
import type { McpServer } from "../tool-server.ts";
import { type FormRequest, type McpConnection, STATELESS } from "./mcp-connection.ts";
import { openSession } from "./open-session.ts";
import { adoptStateless, probeStateless } from "./open-stateless.ts";

/**
 * Connects to a tool server in the newest revision that it speaks. A server that is not known yet is asked for the
 * revision 2026-07-28; if it does not speak that, this was one further request. What is `known` of a server is tried
 * first. If it is not true any more, finding out costs one request, too. Source: decision 151.
 *
 * @param known the revision in which the server answered last; undefined if it never has.
 * @throws if the connection cannot be opened, or the signal fires first.
 */
export async function openConnection(
  server: McpServer,
  limits: McpLimits,
  onForm: (request: FormRequest) => Promise<ElicitResult>,
  { known, signal }: { known: string | undefined; signal: AbortSignal },
): Promise<McpConnection> {
  if (server.type === "sse" || server.isOurs) return openSession(server, limits, onForm, signal);
  if (known === STATELESS) return adoptStateless(server, limits);
  const probe = () =>
    probeStateless(server, limits, signal).catch((error: unknown) => {
      // The server may refuse the request and name the same revision; then it is not asked again.
      if (saysStateless(error)) return adoptStateless(server, limits);
      return ignoreIfOlder(error);
    });
  const probed = known === undefined ? await probe() : undefined;
  if (probed) return probed;
  try {
    return await openSession(server, limits, onForm, signal);
  } catch (error) {
    if (saysStateless(error)) return adoptStateless(server, limits);
    if (known === undefined || isFinal(error)) throw error;
    const renewed = await probe().catch(() => undefined);
    if (renewed) return renewed;
    throw error;
  }

  /** Ignores the failure of a probe if it may come from a server that does not know the revision. */
  function ignoreIfOlder(error: unknown): undefined {
    if (signal.aborted || isFinal(error)) throw error;
  }
}

/** Whether a failure has nothing to do with the revision, so that another request would fail, too. */
function isFinal(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (at instanceof McpFailure) return at.isUnauthorized;
    if (isGuardedFetchError(at)) return at.kind === "refused" || at.kind === "redirect";
    const status = readHttpStatus(at);
    if (status !== undefined) return status === 401 || status === 403;
  }
  return false;
}

/** Whether a server has refused a request, and says that it speaks the revision 2026-07-28. */
function saysStateless(error: unknown): boolean {
  if (error instanceof McpError && error.code === UNSUPPORTED_REVISION) {
    const { data } = supportedSchema.safeParse(error.data);
    return data?.supported.includes(STATELESS) ?? false;
  }
  // An answer that does not fit its request is in the message of the transport's error.
  return (
    error instanceof Error &&
    error.message.includes(`${UNSUPPORTED_REVISION}`) &&
    error.message.includes(STATELESS)
  );
}

const supportedSchema = z.looseObject({ supported: z.array(z.string()) });
