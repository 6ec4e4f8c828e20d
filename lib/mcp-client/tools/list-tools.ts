import { z } from "zod";
import type { McpConnection } from "../connection/open-connection.ts";
import { McpFailure, toMcpFailure } from "../mcp-error.ts";
import type { McpLimits } from "../mcp-limits.ts";

/** What a server lists, unchecked; `isCut` where it lists more than was taken. */
export type RawListing = { tools: unknown[]; isCut: boolean };

/** One page; each tool in it is judged by itself, so that a bad one does not cost the others. */
const pageSchema = z.looseObject({
  tools: z.array(z.unknown()).default([]),
  nextCursor: z.string().nullish(),
});

/** Tools are looked at as far as there could be a place for them. */
const ROOM = 4;

/**
 * Lists a server's tools over all pages: for at most so many of them, and not past a page that was read before. A server
 * that does not advertise tools is not asked.
 *
 * @throws McpFailure where a page cannot be had, or the signal fires first.
 */
export async function listTools(
  connection: McpConnection,
  limits: McpLimits,
  signal: AbortSignal,
): Promise<RawListing> {
  if (!connection.hasTools) return { tools: [], isCut: false };
  const tools: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  const most = limits.toolsPerServerMax * ROOM;
  try {
    let bytes = 0;
    for (let page = 1; page <= limits.pagesMax && tools.length <= most; page++) {
      const request = { method: "tools/list", params: cursor === undefined ? {} : { cursor } } as const;
      const answer = await connection.client.request(request, pageSchema, { signal, timeout: limits.listMs });
      const taken = answer.tools.slice(0, most + 1 - tools.length);
      bytes += measureBytes(taken);
      if (bytes > limits.listBytesMax) break;
      tools.push(...taken);
      if (answer.tools.length > most) break;
      if (!answer.nextCursor) return { tools, isCut: false };
      if (seen.has(answer.nextCursor)) break;
      seen.add(answer.nextCursor);
      cursor = answer.nextCursor;
    }
  } catch (error) {
    throw signal.aborted ? new McpFailure("the server did not answer in time") : toMcpFailure(error);
  }
  return { tools, isCut: true };
}

/** The bytes of a value as JSON; endless where it is nested too deeply to be written. */
export function measureBytes(value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
