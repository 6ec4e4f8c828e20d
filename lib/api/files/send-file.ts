import type { Workspace } from "#lib/sandbox/sandbox-service.ts";
import { dispositionOf } from "../http/attachment.ts";
import { namesTag } from "../http/entity-tag.ts";
import { fail, failureResponse } from "../http/errors.ts";
import { streamed } from "../http/streamed-response.ts";
import { mediaTypeOf } from "./media-type.ts";
import { parseRange } from "./parse-range.ts";
import { tagOfFile } from "./session-files.ts";

/** How much of a file is read at once, and thus in memory for one download. */
const PART_BYTES = 2 * 2 ** 20;

/** Types that browsers show instead of saving. None of them can run a script in the origin of this service. */
const SHOWN = new Set(["image/png", "image/jpeg", "image/webp", "image/gif", "application/pdf"]);

const POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";
/**
 * Browsers do not start their PDF viewer in a sandbox. The viewer runs scripts of a document apart from the origin that
 * the document is from.
 */
const PDF_POLICY = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'";

/**
 * Answers a request for a file of a workspace, part by part. If the file changes during the answer, the answer breaks
 * off, so that no client gets a mixture of two versions (decision 115).
 * @throws WorkspaceError if there is no such file.
 */
export async function sendFile(workspace: Workspace, path: string, request: Request): Promise<Response> {
  const { file } = await workspace.readPart(path, { offset: 0, limitBytes: 0 });
  const { headers } = request;
  const tag = tagOfFile(file);
  const caching = { ETag: tag, "Cache-Control": "private, no-cache" };
  if (namesTag(headers.get("if-none-match"), tag))
    return new Response(null, { status: 304, headers: caching });
  const ifRange = headers.get("if-range");
  const range =
    ifRange === null || ifRange === tag ? parseRange(headers.get("range"), file.sizeBytes) : undefined;
  if (range === "unsatisfiable")
    return failureResponse(
      fail("range_not_satisfiable", `Range: the file has ${file.sizeBytes} bytes`, {
        "Content-Range": `bytes */${file.sizeBytes}`,
      }),
    );
  const { from, to } = range ?? { from: 0, to: file.sizeBytes };
  const type = mediaTypeOf(path);
  const isShown = SHOWN.has(type);
  const answer = {
    status: range ? 206 : 200,
    headers: {
      "Content-Type": isShown ? type : "application/octet-stream",
      "Content-Disposition": dispositionOf(
        isShown ? "inline" : "attachment",
        path.split("/").findLast((name) => name !== "") ?? "file",
      ),
      "Content-Security-Policy": type === "application/pdf" ? PDF_POLICY : POLICY,
      "X-Content-Type-Options": "nosniff",
      "Content-Length": String(to - from),
      "Last-Modified": new Date(file.modifiedAtMs).toUTCString(),
      "Accept-Ranges": "bytes",
      ...(range && { "Content-Range": `bytes ${from}-${to - 1}/${file.sizeBytes}` }),
      ...caching,
    },
  };
  if (request.method === "HEAD" || from === to) return new Response(null, answer);
  let offset = from;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const part = await workspace.readPart(path, {
          offset,
          limitBytes: Math.min(PART_BYTES, to - offset),
        });
        if (part.file.version !== file.version || part.bytes.byteLength === 0)
          throw new Error(`the file ${path} of a workspace was changed while it was sent`);
        offset += part.bytes.byteLength;
        controller.enqueue(part.bytes);
        if (offset >= to) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return streamed(new Response(body, answer));
}
