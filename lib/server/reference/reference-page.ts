import type { IncomingMessage, ServerResponse } from "node:http";
import { namesTag } from "#lib/api/http/entity-tag.ts";
import { type Reference, THEMES, type Theme } from "./compose-reference.ts";

/** The path of the API reference. */
export const REFERENCE_PATH = "/docs";

/**
 * Creates the handler of the API reference. The page is rendered once in the life of the process, at its first request.
 * All requests get the same bytes. Source: decision 063.
 *
 * @param render renders the page. If it fails, the next request tries again.
 */
export function createReferencePage(render: () => Promise<Reference>) {
  let rendering: Promise<Reference> | undefined;

  /** Answers a GET or HEAD request. */
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    rendering ??= render().catch((error: unknown) => {
      rendering = undefined;
      throw error;
    });
    const page = await rendering;
    const theme = readTheme(request.headers.cookie ?? "");
    const isPacked = /(^|,)\s*gzip\s*(;(?!\s*q=0(\.0*)?\s*(,|$))|,|$)/i.test(
      request.headers["accept-encoding"]?.toString() ?? "",
    );
    const etag = `"${page.hash}-${theme}${isPacked ? "-gzip" : ""}"`;
    response.setHeader("Content-Security-Policy", page.policy);
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.setHeader("Cache-Control", "private, no-cache");
    response.setHeader("Vary", "Accept-Encoding, Cookie");
    response.setHeader("ETag", etag);
    if (page.link !== undefined) response.setHeader("Link", page.link);
    if (namesTag(request.headers["if-none-match"], etag)) {
      response.statusCode = 304;
      response.end();
      return;
    }
    if (isPacked) response.setHeader("Content-Encoding", "gzip");
    const parts = isPacked ? [page.packed[theme]] : [page.heads[theme], page.rest];
    response.setHeader(
      "Content-Length",
      parts.reduce((sum, { byteLength }) => sum + byteLength, 0),
    );
    if (request.method !== "HEAD") for (const part of parts) response.write(part);
    response.end();
  };
}

/** Reads the theme that the page's own menu stores in a cookie. */
function readTheme(cookies: string): Theme {
  const value = /(?:^|;\s*)(?:__Host-)?theme=(\w+)/.exec(cookies)?.[1];
  return THEMES.find((theme) => theme === value) ?? "system";
}
