import { z } from "zod";
import { type McpConnection, STATELESS } from "../connection/mcp-connection.ts";
import { McpFailure, toMcpFailure } from "../mcp-error.ts";
import type { McpLimits } from "../mcp-limits.ts";

/**
 * A server's tool list before validation. With `isCut`, the list may not contain all of the server's tools. `hasTasks`:
 * whether the server runs tool calls as tasks. `isStateless`: whether the list is of the revision 2026-07-28. `ttlMs`:
 * for how long the list may be used again.
 */
export type RawListing = {
  tools: unknown[];
  isCut: boolean;
  hasTasks: boolean;
  isStateless: boolean;
  ttlMs: number;
};

/** One page of a tool list. Each tool is validated separately later, so that one invalid tool does not fail the page. */
const pageSchema = z.looseObject({
  tools: z.array(z.unknown()).nullish(),
  nextCursor: z.string().nullish(),
  ttlMs: z.number().catch(0),
});

/** Maximum number of characters of a cursor, which is stored and sent back. The list ends at a longer one. */
const CURSOR_MAX = 4_096;
/** How long a list is used at most, whatever the server allows, in milliseconds. */
const TTL_MAX_MS = 3_600_000;
/** Up to this multiple of `toolsPerServerMax` tools are read, because some of the tools may be refused. */
const ROOM = 4;

/**
 * Lists a server's tools, page by page. Reading stops at the limits for pages, tools and bytes, and when a cursor
 * repeats or is too long. A server that does not advertise tools gets no request.
 *
 * @param traceparent the trace context of the requests.
 * @throws McpFailure if a page cannot be read, or the signal fires first.
 */
export async function listTools(
  connection: McpConnection,
  limits: McpLimits,
  { signal, traceparent }: { signal: AbortSignal; traceparent: string },
): Promise<RawListing> {
  const { hasTasks, revision } = connection;
  const about = { hasTasks, isStateless: revision === STATELESS };
  if (!connection.hasTools) return { tools: [], isCut: false, ...about, ttlMs: 0 };
  const tools: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  let ttlMs = TTL_MAX_MS;
  const most = limits.toolsPerServerMax * ROOM;
  try {
    let bytes = 0;
    for (let page = 1; page <= limits.pagesMax && tools.length <= most; page++) {
      const params = { ...(cursor !== undefined && { cursor }), _meta: { traceparent } };
      const request = { method: "tools/list", params };
      const answer = await connection.request(request, pageSchema, { signal, timeout: limits.listMs });
      const listed = answer.tools ?? [];
      ttlMs = Math.min(ttlMs, answer.ttlMs);
      const taken = listed.slice(0, most + 1 - tools.length);
      bytes += measureBytes(taken);
      if (bytes > limits.listBytesMax) break;
      tools.push(...taken);
      if (listed.length > most) break;
      if (!answer.nextCursor) return { tools, isCut: false, ...about, ttlMs };
      if (answer.nextCursor.length > CURSOR_MAX || seen.has(answer.nextCursor)) break;
      seen.add(answer.nextCursor);
      cursor = answer.nextCursor;
    }
  } catch (error) {
    throw signal.aborted ? new McpFailure("the server did not answer in time") : toMcpFailure(error);
  }
  return { tools, isCut: true, ...about, ttlMs: 0 };
}

/** Measures the size of a value as JSON, in bytes. The result is infinity if the value cannot be serialized. */
export function measureBytes(value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
