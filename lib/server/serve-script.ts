import type { IncomingMessage, ServerResponse } from "node:http";
import type { ScriptServer } from "#lib/publication/script-server.ts";

/** Returns the file name of the published script that a request loads; undefined for other requests. */
export function findScript(request: IncomingMessage, pathname: string): string | undefined {
  const isLoad = request.method === "GET" || request.method === "HEAD";
  return isLoad && isNormalized(request, pathname) ? /^\/v\/([\w@-]+\.js)$/.exec(pathname)?.[1] : undefined;
}

/** Whether the request names the path as it is, so that no normalization has changed it. */
export const isNormalized = ({ url }: IncomingMessage, pathname: string): boolean =>
  url === pathname || url?.startsWith(`${pathname}?`) === true;

/**
 * Sends a published script. Does not convert the request and response to web messages, because the conversion would
 * take most of the time.
 *
 * @returns false if the script does not exist or is gone (404, 410); the operation then answers.
 */
export async function serveScript(
  scripts: Pick<ScriptServer, "answer">,
  file: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  // Set first, so that an error response has these headers too.
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader("Cross-Origin-Resource-Policy", "cross-origin");
  response.setHeader("Cache-Control", "no-store");
  const answer = await scripts.answer(file, {
    ifNoneMatch: request.headers["if-none-match"] ?? null,
    acceptEncoding: request.headers["accept-encoding"] ?? null,
  });
  if (answer.status === 404 || answer.status === 410) return false;
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
  response.end(answer.status === 200 ? answer.body : undefined);
  return true;
}
